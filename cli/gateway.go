package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/resp/protocol"
)

// ask sends a command of the keyspace and reads its reply in RESP2, which keeps types and bytes. An error of the command
// is an error.
func (s *session) ask(words ...string) (v reply.Value, err error) {
	req, err := http.NewRequestWithContext(s.ctx, "POST", s.Client.url+s.in("")+"/", strings.NewReader(jsonWords(words)))
	if err != nil {
		return v, Usagef("%w", err)
	}
	for _, prefix := range []string{"Svc", "Upstash"} {
		req.Header.Set(prefix+"-Response-Format", "resp2")
	}
	resp, err := s.exchange(s.http, req)
	if err != nil {
		return v, err
	}
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != "application/octet-stream" {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // whatever came of it
		return v, s.refusal(resp, text)
	}
	if v, err = protocol.ReadReply(bufio.NewReader(resp.Body)); errors.Is(err, protocol.ErrReply) {
		return v, s.noNode()
	} else if err != nil {
		return v, s.explain(err)
	}
	switch {
	case v.IsError() && strings.HasPrefix(v.Text(), "NOPERM"):
		return v, errorf(ExitDenied, "%s", v.Text())
	case v.IsError():
		return v, errorf(ExitFailed, "%s", v.Text())
	}
	return v, nil
}

// jsonWords is a command as the gateway takes it. Bytes that are not UTF-8 stay as they are, which the gateway keeps.
func jsonWords(words []string) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, w := range words {
		if i > 0 {
			b.WriteByte(',')
		}
		if utf8.ValidString(w) {
			text, _ := encode(w) // a text
			b.Write(text)
			continue
		}
		b.WriteByte('"')
		for _, c := range []byte(w) {
			switch {
			case c == '"' || c == '\\':
				b.WriteByte('\\')
				b.WriteByte(c)
			case c < ' ':
				fmt.Fprintf(&b, `\u%04x`, c)
			default:
				b.WriteByte(c)
			}
		}
		b.WriteByte('"')
	}
	b.WriteByte(']')
	return b.String()
}
