package command

import (
	"fmt"
	"strings"
	"testing"
)

// shape writes arguments in one line: name:kind, a token before it, ? and * for flags, the
// parts in brackets.
func shape(list []*argument) string {
	var all []string
	for _, a := range list {
		text := a.name + ":" + a.kind
		if a.token != "" {
			text = a.token + " " + text
		}
		if a.optional {
			text += "?"
		}
		if a.multiple {
			text += "*"
		}
		if len(a.parts) > 0 {
			text += "(" + shape(a.parts) + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

// TestSyntax compares what is read of the syntax of commands with what Redis tells of
// their arguments, and holds that of every row nothing is left unread.
func TestSyntax(t *testing.T) {
	table := NewTable()
	for name, want := range map[string]string{
		"get":  "key:key",
		"del":  "key:key*",
		"mset": "key_value:block*(key:key, value:string)",
		"lpop": "key:key, count:integer?",
		"mget": "key:key*",
		"zadd": "key:key, nx_xx:oneof?(NX nx:pure-token, XX xx:pure-token), gt_lt:oneof?(GT gt:pure-token, LT lt:pure-token), CH ch:pure-token?, " +
			"INCR incr:pure-token?, score_member:block*(score:double, member:string)",
		"client no-evict": "on_off:oneof(ON on:pure-token, OFF off:pure-token)",
		"lmpop":           "numkeys:integer, key:key*, left_right:oneof(LEFT left:pure-token, RIGHT right:pure-token), COUNT count:integer?",
		"getex": "key:key, seconds_milliseconds_unix-time-seconds_unix-time-milliseconds_persist:oneof?(EX seconds:integer, PX milliseconds:integer, " +
			"EXAT unix-time-seconds:unix-time, PXAT unix-time-milliseconds:unix-time, PERSIST persist:pure-token)",
		"xrange": "key:key, start:string, end:string, COUNT count:integer?",
		"ping":   "message:string?",
	} {
		if got := shape(table.Row(name).arguments()); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
		}
	}
	for _, c := range table.Rows() {
		text := fmt.Sprint(shape(c.arguments()))
		if strings.ContainsAny(text, "[]<>|") || (c.Arity > c.words || c.Arity < -c.words) && text == "" {
			t.Errorf("%s: %q is read as %q", c.Name, c.Syntax, text)
		}
	}
}
