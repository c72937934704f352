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
	all, err := s.replies("/", jsonWords(words), 1)
	if err != nil {
		return v, err
	}
	return all[0], commandError(all[0])
}

// askEach sends commands as a pipeline and reads the reply of each. Errors of commands are among the replies.
func (s *session) askEach(rows [][]string) ([]reply.Value, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	texts := make([]string, len(rows))
	for i, words := range rows {
		texts[i] = jsonWords(words)
	}
	return s.replies("/pipeline", "["+strings.Join(texts, ",")+"]", len(rows))
}

// commandError is the error that a reply is, if it is one.
func commandError(v reply.Value) error {
	switch {
	case v.IsError() && strings.HasPrefix(v.Text(), "NOPERM"):
		return errorf(ExitDenied, "%s", v.Text())
	case v.IsError():
		return errorf(ExitFailed, "%s", v.Text())
	}
	return nil
}

// replies posts commands to a path of the gateway and reads n replies.
func (s *session) replies(path, body string, n int) ([]reply.Value, error) {
	req, err := http.NewRequestWithContext(s.ctx, "POST", s.Client.url+s.in("")+path, strings.NewReader(body))
	if err != nil {
		return nil, Usagef("%w", err)
	}
	for _, prefix := range []string{"Svc", "Upstash"} {
		req.Header.Set(prefix+"-Response-Format", "resp2")
	}
	resp, err := s.exchange(s.http, req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.Header.Get("Content-Type") != "application/octet-stream" {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<20)) // whatever came of it
		return nil, s.refusal(resp, text)
	}
	all, in := make([]reply.Value, n), bufio.NewReader(resp.Body)
	for i := range all {
		if all[i], err = protocol.ReadReply(in); errors.Is(err, protocol.ErrReply) {
			return nil, s.noNode()
		} else if err != nil {
			return nil, s.explain(err)
		}
	}
	return all, nil
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
