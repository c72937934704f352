package command

import (
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// shownBytes bounds what the stock text repeats of an unknown command, and of its
// arguments, as Redis does.
const shownBytes = 128

// unknown is the error for a command that isn't in the table, in the words of the
// origin it came through.
func (t *Table) unknown(tx *Tx, argv [][]byte) reply.Value {
	if len(argv) == 0 {
		return reply.Error("ERR empty command")
	}
	name := string(argv[0])
	container := t.containers[string(lower(nil, argv[0]))]
	if container && len(argv) == 1 && t.byName[string(lower(nil, argv[0]))] == nil {
		if tx.Origin == Script {
			return errScriptArity
		}
		return ErrArity(ascii.Lower(name))
	}
	switch d := tx.Origin; {
	case d == OriginHTTP && container:
		name += " " + string(argv[1])
		fallthrough
	case d == OriginHTTP:
		return reply.Error("ERR Command is not available: '" + ascii.Upper(clean(name)) + "'")
	case d == Script:
		return reply.Error("ERR Unknown Redis command called from script")
	case container:
		return reply.Error("ERR unknown subcommand '" + shownStart(argv[1]) + "'. Try " + ascii.Upper(name) + " HELP.")
	}
	var args strings.Builder
	for _, a := range argv[1:] {
		if args.Len() >= shownBytes {
			break
		}
		args.WriteString("'" + shown(string(a[:min(len(a), shownBytes-args.Len())])) + "' ")
	}
	return reply.Error("ERR unknown command '" + shown(name[:min(len(name), shownBytes)]) + "', with args beginning with: " + args.String())
}

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// clean keeps an error on one line, whatever the client sent.
func clean(s string) string { return oneLine.Replace(s) }

// shown is a client's word in an error, up to a zero byte, where Redis stops.
func shown(word string) string {
	word, _, _ = strings.Cut(word, "\x00")
	return clean(word)
}

// shownLast is shown of a word at the end of an error: line breaks there are dropped.
func shownLast(word string) string {
	word, _, _ = strings.Cut(word, "\x00")
	return clean(strings.TrimRight(word, "\r\n"))
}

// shownStart is the start of a client's word, as much as Redis shows of a subcommand.
func shownStart(word []byte) string { return shown(string(word[:min(len(word), shownBytes)])) }

// refusedAt reports whether the row may not be called through the origin with these
// arguments.
func refusedAt(tx *Tx, c *Command, argv [][]byte) (reply.Value, bool) {
	switch d := tx.Origin; {
	case d == OriginHTTP && c.Waits != nil && asksToWait(argv):
		return reply.Error("ERR Command \"" + ascii.Upper(c.Name) + "\" with BLOCK is not allowed in REST"), true
	case d == OriginHTTP && c.Flags&NoHTTP != 0:
		return reply.Error("ERR Command \"" + ascii.Upper(c.Name) + "\" is not allowed in REST or it has a special context path"), true
	case d == Script && (c.Flags&NoScript != 0 || c.Flags&NoScriptWait != 0):
		return reply.Error("ERR This Redis command is not allowed from script"), true
	}
	return reply.Value{}, false
}

var errScriptArity = reply.Error("ERR Wrong number of args calling Redis command from script")
