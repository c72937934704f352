package httpapi_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/httpapi/httpapitest"
)

// TestShapes sends the requests of testdata/shapes.txt and compares the whole replies, as they are on the wire.
func TestShapes(t *testing.T) {
	text, err := os.ReadFile("testdata/shapes.txt")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for part := range strings.SplitSeq(string(text), "\n\n") {
		name, _, _ := strings.Cut(strings.TrimPrefix(part, "# "), "\n")
		t.Run(name, func(t *testing.T) { compared += compareShapes(t, newGateway(t), strings.Split(part, "\n")) })
	}
	if compared < 300 {
		t.Errorf("%d replies compared", compared)
	}
}

func compareShapes(t *testing.T, g *gateway, lines []string) (compared int) {
	t.Helper()
	token, request := httpapitest.Token, ""
	for _, line := range lines {
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '@':
			user, password, _ := strings.Cut(line[1:], " ")
			token = g.text(t, "/", httpapitest.Token, "ACL", "RESTTOKEN", user, password)
		case request == "":
			request = line
		default:
			a := g.ask(t, "POST", "/", request, auth(token))
			want, open := strings.CutSuffix(line, "…")
			status := map[bool]int{true: 400, false: 200}[strings.HasPrefix(line, `{"error"`)]
			if a.status != status || a.body != want && !(open && strings.HasPrefix(a.body, want)) {
				t.Error(fmt.Sprintf("%s\nwe:   %d %s\nwant: %d %s", request, a.status, a.body, status, line))
			}
			request = ""
			compared++
		}
	}
	if request != "" {
		t.Errorf("%s: no reply stands behind it", request)
	}
	return compared
}
