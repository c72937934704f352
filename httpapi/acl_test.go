package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi"
	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// text runs a command with a token at a path and returns the string it answers.
func (g *gateway) text(t *testing.T, target, token string, words ...string) string {
	t.Helper()
	body, err := json.Marshal(words)
	if err != nil {
		t.Fatal(err)
	}
	a := g.ask(t, "POST", target, string(body), auth(token))
	var reply struct{ Result string }
	if err := json.Unmarshal([]byte(a.body), &reply); err != nil || a.status != 200 {
		t.Fatalf("%v: %+v, %v", words, a, err)
	}
	return reply.Result
}

const noPerm = `{"error":"NOPERM this user has no permissions to `

func TestTokenOfAUserActsAsTheUser(t *testing.T) {
	g := newGateway(t)
	g.text(t, "/", httpapitest.Token, "ACL", "SETUSER", "bob", "on", ">secret", "+@read", "+set", "-mget", "~b:*", "%R~r:*")
	g.text(t, "/", httpapitest.Token, "SET", "r:k", "readable")
	bob := g.text(t, "/", httpapitest.Token, "ACL", "RESTTOKEN", "bob", "secret")
	g.expect(t, "POST", "/", `["SET","b:k","v"]`, bob, 200, `{"result":"OK"}`)
	g.expect(t, "GET", "/get/b:k?_token="+url.QueryEscape(bob), "", "nonsense", 200, `{"result":"v"}`)
	g.expect(t, "GET", "/get/r:k", "", bob, 200, `{"result":"readable"}`)
	g.expect(t, "GET", "/get/other", "", bob, 400, noPerm+`access one of the keys used as arguments"}`)
	g.expect(t, "GET", "/set/r:k/v", "", bob, 400, noPerm+`access one of the keys used as arguments"}`)
	g.expect(t, "GET", "/del/b:k", "", bob, 400, noPerm+`run the 'del' command or its subcommand"}`)
	g.expect(t, "GET", "/mget/b:k", "", bob, 400, noPerm+`run the 'mget' command or its subcommand"}`)
	g.expect(t, "GET", "/acl/setuser/bob/allkeys", "", bob, 400, noPerm+`run the 'acl|setuser' command or its subcommand"}`)
	g.expect(t, "POST", "/pipeline", `[["GET","b:k"],["GET","x"],["SET","b:k","w"]]`, bob, 200,
		`[{"result":"v"},{"error":"NOPERM this user has no permissions to access one of the keys used as arguments"},{"result":"OK"}]`)
	g.expect(t, "POST", "/multi-exec", `[["SET","b:k","x"],["SET","x","y"]]`, bob, 400, noPerm)
	g.expect(t, "GET", "/get/b:k", "", bob, 200, `{"result":"w"}`) // the transaction was discarded
	// Narrowing the user, switching it off and deleting it affect the token at once.
	g.text(t, "/", httpapitest.Token, "ACL", "SETUSER", "bob", "resetkeys", "~c:*")
	g.expect(t, "GET", "/get/b:k", "", bob, 400, noPerm)
	g.text(t, "/", httpapitest.Token, "ACL", "SETUSER", "bob", "off")
	g.expect(t, "GET", "/get/c:k", "", bob, 401, wrongPass)
	g.text(t, "/", httpapitest.Token, "ACL", "SETUSER", "bob", "on")
	g.expect(t, "GET", "/get/c:k", "", bob, 200, `{"result":null}`)
	g.expect(t, "GET", "/acl/deluser/bob", "", httpapitest.Token, 200, `{"result":1}`)
	g.expect(t, "GET", "/get/c:k", "", bob, 401, wrongPass)
	g.expect(t, "GET", "/acl/resttoken/bob/secret", "", httpapitest.Token, 400, `{"error":"ERR Wrong password or user bob does not exist"}`)
}

// A token dies with the password it was made with, and with no other.
func TestTokensDieWithTheirPassword(t *testing.T) {
	g := newGateway(t)
	g.text(t, "/", httpapitest.Token, "ACL", "SETUSER", "bob", "on", ">one", ">two", "+@all", "~*")
	one := g.text(t, "/", httpapitest.Token, "ACL", "RESTTOKEN", "bob", "one")
	two := g.text(t, "/", httpapitest.Token, "ACL", "RESTTOKEN", "bob", "two")
	if one == two {
		t.Fatal("two passwords give one token")
	}
	g.text(t, "/", httpapitest.Token, "ACL", "SETUSER", "bob", "<one")
	g.expect(t, "POST", "/", `["PING"]`, one, 401, wrongPass)
	g.expect(t, "POST", "/", `["PING"]`, two, 200, `{"result":"PONG"}`)
	g.expect(t, "POST", "/", `["PING"]`, "two", 401, wrongPass) // a password alone is no token
	// A generated token is a password that is a token, once it is set.
	generated := g.text(t, "/", httpapitest.Token, "ACL", "GENTOKEN", "bob")
	g.expect(t, "POST", "/", `["PING"]`, generated, 401, wrongPass)
	g.text(t, "/", httpapitest.Token, "ACL", "SETUSER", "bob", ">"+generated)
	g.expect(t, "POST", "/", `["SET","k","v"]`, generated, 200, `{"result":"OK"}`)
	rest := g.text(t, "/", generated, "ACL", "RESTTOKEN", "bob", generated)
	g.expect(t, "POST", "/", `["PING"]`, rest, 200, `{"result":"PONG"}`)
	g.text(t, "/", rest, "ACL", "SETUSER", "bob", "<"+generated)
	g.expect(t, "POST", "/", `["PING"]`, rest, 401, wrongPass)
	g.expect(t, "POST", "/", `["PING"]`, generated, 401, wrongPass)
	// Damaged ones open nothing.
	for _, token := range []string{two[:len(two)-4], "B" + two[1:], two + "A", strings.ToUpper(two), "AQ==", "AgA=", "AgNib2I=", "AQNib2I="} {
		g.expect(t, "POST", "/", `["PING"]`, token, 401, wrongPass)
	}
}

// The same user with the same password has another token in every database.
func TestUserTokensBelongToADatabase(t *testing.T) {
	g := newGateway(t)
	a := g.database(t, "POST", "/admin/databases", `{"name":"a"}`, 201)
	b := g.database(t, "POST", "/admin/databases", `{"name":"b"}`, 201)
	tokens := map[string]string{}
	for target, standard := range map[string]string{"/": httpapitest.Token, "/db/a/": a.Token, "/db/b/": b.Token} {
		g.text(t, target, standard, "ACL", "SETUSER", "bob", "on", ">secret", "+ping")
		tokens[target] = g.text(t, target, standard, "ACL", "RESTTOKEN", "bob", "secret")
	}
	for at := range tokens {
		for of, token := range tokens {
			status := 401
			if at == of {
				status = 200
			}
			g.expect(t, "POST", at, `["PING"]`, token, status, `{"`)
		}
	}
}

// A row that changes its own user's rights decides about the rows after it.
func TestRightsChangeWithinARequest(t *testing.T) {
	g := newGateway(t)
	for _, target := range []string{"/pipeline", "/multi-exec"} {
		g.text(t, "/", httpapitest.Token, "ACL", "SETUSER", "bob", "reset", "on", ">secret", "+@all", "allkeys")
		bob := g.text(t, "/", httpapitest.Token, "ACL", "RESTTOKEN", "bob", "secret")
		g.expect(t, "POST", target, `[["SET","k","v"],["ACL","SETUSER","bob","-set"],["SET","k","w"],["ACL","DELUSER","bob"],["GET","k"]]`, bob, 200,
			`[{"result":"OK"},{"result":"OK"},{"error":"NOPERM this user has no permissions to run the 'set' command or its subcommand"},`+
				`{"result":1},{"error":"WRONGPASS invalid or missing auth token"}]`)
	}
}

// watched is an engine whose log is kept.
type watched struct {
	*httpapitest.Engine
	log *bytes.Buffer
}

func (w watched) Propose(ctx context.Context, code uint16, body []byte) (any, error) {
	w.log.Write(body)
	return w.Engine.Propose(ctx, code, body)
}

// Neither passwords nor tokens reach the log or a snapshot.
func TestSecretsStayOutOfTheLog(t *testing.T) {
	w := watched{httpapitest.New(), &bytes.Buffer{}}
	g := newGateway(t, func(o *httpapi.Options) { o.Engine = w })
	const secret = "correct-horse-battery"
	write := `["SET","k","marker"]`
	var drawn []string
	for _, row := range []string{
		`["ACL","SETUSER","bob","on",">` + secret + `","+@all","~*"]`, `["acl","setuser","bob","<` + secret + `"]`, `["ACL","SETUSER","bob",">` + secret + `"]`,
		`["ACL","RESTTOKEN","bob","` + secret + `"]`, `["ACL","GENTOKEN","bob","` + secret + `"]`,
		`["AUTH","` + secret + `"]`, `["AUTH","bob","` + secret + `"]`, `["HELLO","3","AUTH","bob","` + secret + `"]`,
		`["CONFIG","SET","requirepass","` + secret + `"]`, `["ACL","GENPASS"]`, `["ACL","GENTOKEN","bob"]`,
	} {
		for _, request := range [][2]string{{"/", row}, {"/pipeline", "[" + row + "," + write + "]"}, {"/multi-exec", "[" + row + "," + write + "]"}} {
			a := g.ask(t, "POST", request[0], request[1])
			if a.status != 200 && a.status != 400 {
				t.Errorf("%s: %+v", request[1], a)
			}
			if request[0] == "/" && strings.HasSuffix(row, `GENPASS"]`) {
				drawn = append(drawn, strings.Trim(a.body, `{}":result`))
			}
			if request[0] == "/pipeline" && strings.Contains(row, `"GEN`) && !strings.Contains(row, secret) && !strings.Contains(a.body, "can't be drawn") {
				t.Errorf("%s: %+v", request[1], a)
			}
		}
	}
	made := g.ask(t, "POST", "/admin/databases", `{"name":"a"}`, asAdmin)
	var d madeDatabase
	if err := json.Unmarshal([]byte(made.body), &d); err != nil {
		t.Fatal(err)
	}
	var snapshot bytes.Buffer
	if err := w.Machine.Fork().Write(&snapshot); err != nil {
		t.Fatal(err)
	}
	for _, hidden := range append(drawn, secret, d.Token, d.ReadonlyToken) {
		if bytes.Contains(w.log.Bytes(), []byte(hidden)) || bytes.Contains(snapshot.Bytes(), []byte(hidden)) {
			t.Errorf("%q was proposed or saved", hidden)
		}
	}
	if !bytes.Contains(w.log.Bytes(), []byte("marker")) || !bytes.Contains(snapshot.Bytes(), []byte("marker")) || len(drawn) != 1 || len(drawn[0]) < 60 {
		t.Fatalf("this test sees nothing: %q", drawn)
	}
}

// The user default of every database may use its messages, and users are rules of their
// database.
func TestDefaultUserOfAnotherDatabase(t *testing.T) {
	g := newGateway(t)
	a := g.database(t, "POST", "/admin/databases", `{"name":"a"}`, 201)
	if got := g.ask(t, "POST", "/db/a/", `["ACL","LIST"]`, auth(a.Token)).body; !strings.Contains(got, `~* &* +@all"`) {
		t.Errorf("%s", got)
	}
	if got := g.ask(t, "POST", "/", `["ACL","LIST"]`).body; strings.Contains(got, "messages") {
		t.Errorf("%s", got)
	}
	g.expect(t, "POST", "/db/a/", `["ACL","SETUSER","default","on"]`, a.Token, 400, `{"error":"ERR The 'default' user cannot be modified"}`)
	g.expect(t, "POST", "/db/a/", `["SET","k","v"]`, a.Token, 200, `{"result":"OK"}`)
}
