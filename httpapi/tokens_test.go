package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

type madeToken struct {
	Name, Database, FormerUntil string
	Token, ReadonlyToken        string
}

func (g *gateway) token(t *testing.T, method, target, body, as string) (m madeToken) {
	t.Helper()
	a := g.ask(t, method, target, body, auth(as))
	if err := json.Unmarshal([]byte(a.body), &m); err != nil || a.status != 200 {
		t.Fatalf("%s %s: %+v, %v", method, target, a, err)
	}
	return m
}

// listed returns the former tokens of GET /admin/tokens: it maps name, or database/name, to the time at which the token ends.
func (g *gateway) listed(t *testing.T, as string) map[string]string {
	t.Helper()
	var got struct{ Tokens []madeToken }
	if a := g.ask(t, "GET", "/admin/tokens", "", auth(as)); json.Unmarshal([]byte(a.body), &got) != nil {
		t.Fatalf("%+v", a)
	}
	all := map[string]string{}
	for _, one := range got.Tokens {
		if one.Token != "" {
			t.Error("a token is shown again")
		}
		name := one.Name
		if one.Database != "" {
			name = one.Database + "/" + name
		}
		all[name] = one.FormerUntil
	}
	return all
}

// TestTokensAreRotated rotates each kind of token with an overlap, uses both, ends it, and is refused what is wrong.
func TestTokensAreRotated(t *testing.T) {
	g := newGateway(t)
	const hour = `{"overlapMs":3600000}`
	admin := g.token(t, "POST", "/admin/tokens/admin/rotate", hour, httpapitest.AdminToken)
	if len(admin.Token) < 40 || admin.FormerUntil == "" {
		t.Fatalf("%+v", admin)
	}
	for _, token := range []string{httpapitest.AdminToken, admin.Token} {
		g.expect(t, "GET", "/admin/databases", "", token, 200, `{"databases"`)
		g.expect(t, "POST", "/", `["SET","k","v"]`, token, 200, `{"result":"OK"}`)
	}
	messages := g.token(t, "POST", "/admin/tokens/messages/rotate", hour, admin.Token)
	if !strings.HasPrefix(messages.Token, "eyJVc2VySUQi") { // {"UserID": clients take it apart
		t.Errorf("%+v", messages)
	}
	g.expect(t, "GET", "/admin/databases", "", messages.Token, 403, "")
	g.expect(t, "GET", "/admin/databases", "", httpapitest.MessagesToken, 403, "")
	own := g.token(t, "POST", "/admin/databases/default/rotate-tokens", `{"overlapMs":3600000,"token":"a-token-of-our-own"}`, admin.Token)
	if own.Token != "a-token-of-our-own" || len(own.ReadonlyToken) < 40 {
		t.Errorf("%+v", own)
	}
	for _, token := range []string{httpapitest.Token, httpapitest.ReadOnlyToken, own.Token, own.ReadonlyToken} {
		g.expect(t, "GET", "/get/k", "", token, 200, `{"result":"v"}`)
	}
	if got := g.listed(t, admin.Token); got["admin"] != admin.FormerUntil || got["messages"] != messages.FormerUntil || got["messages-readonly"] != "" || got["default/token"] != own.FormerUntil || len(got) != 5 {
		t.Errorf("%v", got)
	}

	g.token(t, "DELETE", "/admin/databases/default/former-tokens", "", admin.Token)
	g.token(t, "DELETE", "/admin/tokens/messages/former", "", admin.Token)
	g.token(t, "DELETE", "/admin/tokens/admin/former", "", admin.Token)
	g.expect(t, "GET", "/get/k", "", httpapitest.Token, 401, wrongPass)
	g.expect(t, "GET", "/get/k", "", httpapitest.AdminToken, 401, wrongPass)
	g.expect(t, "GET", "/get/k", "", own.Token, 200, `{"result":"v"}`)
	g.expect(t, "GET", "/admin/databases", "", httpapitest.MessagesToken, 401, "")
	g.expect(t, "GET", "/admin/databases", "", httpapitest.AdminToken, 401, "")

	at := func(target, body string, status int, want string) {
		t.Helper()
		g.expect(t, "POST", target, body, admin.Token, status, `{"error":"ERR `+want)
	}
	at("/admin/tokens/admin/rotate", `{"token":"fifteen bytes.."}`, 400, "a token must have 16 to 1024 bytes, got 15")
	at("/admin/tokens/admin/rotate", `{"token":"one with blanks in it"}`, 400, "a token must consist of printable ASCII characters")
	at("/admin/tokens/admin/rotate", `{"token":"a-token-of-our-own"}`, 409, "a new token differs from all others")
	at("/admin/tokens/admin/rotate", `{"readonlyToken":"sixteen-bytes-or-more"}`, 400, "readonlyToken is for")
	at("/admin/tokens/admin/rotate", `{"overlapMs":7776000001}`, 400, "an overlap is 0 to 90 days long")
	at("/admin/tokens/standard/rotate", `{}`, 404, "there is no such token")
	at("/admin/databases/none/rotate-tokens", `{}`, 404, `there is no database \"none\"`)
	at("/admin/databases/default/rotate-tokens", `{"token":"sixteen-bytes-or-more","readonlyToken":"sixteen-bytes-or-more"}`, 400, "a database needs two different tokens")
	g.expect(t, "POST", "/admin/tokens/admin/rotate", `{}`, own.Token, 403, "")
	last := g.token(t, "POST", "/admin/tokens/admin/rotate", `{}`, admin.Token)
	if last.FormerUntil != "" {
		t.Errorf("%+v", last)
	}
	g.expect(t, "GET", "/admin/tokens", "", admin.Token, 401, "")
}
