package pubsub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trireme-dev/trireme/node/pubsub"
)

func TestLine(t *testing.T) {
	at := time.UnixMicro(1795166713004217)
	for _, c := range []struct{ addr, words, want string }{
		{"", "hget|h|f", `1795166713.004217 [0 0.0.0.0:0] "HGET" "h" "f"`},
		{"10.0.0.1:5", "SET||a\"\\\n\r\t\a\b\x00\xff", `1795166713.004217 [0 10.0.0.1:5] "SET" "" "a\"\\\n\r\t\a\b\x00\xff"`},
		{"", "auth|u|secret", `1795166713.004217 [0 0.0.0.0:0] "AUTH" "(redacted)" "(redacted)"`},
		{"10.0.0.1:5", "Get|K", `1795166713.004217 [0 10.0.0.1:5] "Get" "K"`},
		{"", "HELLO|3|AUTH|u|secret", `1795166713.004217 [0 0.0.0.0:0] "HELLO" "3" "AUTH" "(redacted)" "(redacted)"`},
		{"", "hello|3|setname|me|auth|u|secret|x", `1795166713.004217 [0 0.0.0.0:0] "HELLO" "3" "setname" "me" "auth" "(redacted)" "(redacted)" "x"`},
		{"", "HELLO|3|secret", `1795166713.004217 [0 0.0.0.0:0] "HELLO" "3" "(redacted)"`},
		{"", "acl|SetUser|u|>secret", `1795166713.004217 [0 0.0.0.0:0] "ACL" "SetUser" "u" "(redacted)"`},
		{"", "ACL|LIST", `1795166713.004217 [0 0.0.0.0:0] "ACL" "LIST"`},
		{"", "CONFIG|SET|requirepass|secret", `1795166713.004217 [0 0.0.0.0:0] "CONFIG" "SET" "requirepass" "(redacted)"`},
		{"", "CONFIG|SET|notify-keyspace-events|KEA", `1795166713.004217 [0 0.0.0.0:0] "CONFIG" "SET" "notify-keyspace-events" "KEA"`},
	} {
		var argv [][]byte
		for w := range strings.SplitSeq(c.words, "|") {
			argv = append(argv, []byte(w))
		}
		if got := string(pubsub.AppendLine(nil, at, c.addr, argv)); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
