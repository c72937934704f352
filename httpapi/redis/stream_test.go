package redis_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/trireme-dev/trireme/httpapi/redis"
)

// TestAppendData reads events as the standard for them says, and finds the payload with
// its line breaks evened out, in one event, whatever it holds.
func TestAppendData(t *testing.T) {
	breaks := strings.NewReplacer("\r\n", "\n", "\r", "\n")
	rapid.Check(t, func(t *rapid.T) {
		payload := string(rapid.SliceOf(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte("\r\n:d")))).Draw(t, "payload"))
		event := string(redis.AppendData(nil, payload))
		if !strings.HasSuffix(event, "\n\n") || !utf8.ValidString(event) || strings.Contains(event, "\r") {
			t.Fatalf("%q", event)
		}
		var lines []string
		for line := range strings.SplitSeq(strings.TrimSuffix(event, "\n\n"), "\n") {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				t.Fatalf("%q", line)
			}
			lines = append(lines, data)
		}
		want := string([]rune(breaks.Replace(payload)))
		if got := strings.Join(lines, "\n"); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
