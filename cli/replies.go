package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// texts of several lines that redis-cli prints as they are.
var pages = []string{"info", "lolwut", "cluster nodes", "cluster info", "client list", "client info", "memory doctor", "latency doctor"}

// print prints a reply; words are the command.
func (r *redis) print(v reply.Value, words []string) error {
	out := r.cmd.OutOrStdout()
	doc, err := encode(map[string]any{"result": jsonOf(v)})
	if err != nil {
		return err
	}
	if done, err := r.structured(out, doc); done || r.quiet {
		return err
	}
	name := strings.ToLower(strings.Join(words[:min(2, len(words))], " "))
	first, _, _ := strings.Cut(name, " ")
	var b strings.Builder
	if r.raw || slices.Contains(pages, name) || slices.Contains(pages, first) {
		rawReply(&b, v)
	} else {
		typedReply(&b, v, "")
	}
	text := b.String()
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	_, err = io.WriteString(out, text)
	return err
}

// jsonOf is a reply as the gateway writes it in JSON.
func jsonOf(v reply.Value) any {
	switch v.Kind() {
	case reply.KindNil, reply.KindNilArray:
		return nil
	case reply.KindInt:
		return json.Number(strconv.FormatInt(v.Int(), 10))
	case reply.KindError:
		return map[string]string{"error": v.Text()}
	case reply.KindArray:
		all := make([]any, len(v.Elems()))
		for i, one := range v.Elems() {
			all[i] = jsonOf(one)
		}
		return all
	}
	return v.Text()
}

// rawReply writes texts as they are, a line for each element.
func rawReply(b *strings.Builder, v reply.Value) {
	switch v.Kind() {
	case reply.KindNil, reply.KindNilArray:
	case reply.KindInt:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case reply.KindArray:
		for i, one := range v.Elems() {
			if i > 0 {
				b.WriteByte('\n')
			}
			rawReply(b, one)
		}
	default:
		b.WriteString(v.Text())
	}
}

// typedReply writes a reply with its types. Arrays are numbered, and nested ones indented.
func typedReply(b *strings.Builder, v reply.Value, indent string) {
	switch v.Kind() {
	case reply.KindNil, reply.KindNilArray:
		b.WriteString("(nil)")
	case reply.KindStatus:
		b.WriteString(printable(v.Text()))
	case reply.KindError:
		b.WriteString("(error) " + printable(v.Text()))
	case reply.KindInt:
		b.WriteString("(integer) " + strconv.FormatInt(v.Int(), 10))
	case reply.KindArray:
		elems := v.Elems()
		if len(elems) == 0 {
			b.WriteString("(empty array)")
		}
		width := len(strconv.Itoa(len(elems)))
		for i, one := range elems {
			mark := strconv.Itoa(i + 1)
			mark = strings.Repeat(" ", width-len(mark)) + mark + ") "
			if i > 0 {
				b.WriteString("\n" + indent)
			}
			b.WriteString(mark)
			typedReply(b, one, indent+strings.Repeat(" ", len(mark)))
		}
	default:
		b.WriteString(quoted(v.Text()))
	}
}

// quoted is a text in double quotes, with escapes for bytes that don't print.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch i := strings.IndexByte("\n\r\t", c); {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case i >= 0:
			b.WriteString(`\` + "nrt"[i:i+1])
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
