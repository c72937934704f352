package command

import (
	"slices"
	"strings"

	"github.com/trireme-dev/trireme/fsm/ascii"
	"github.com/trireme-dev/trireme/fsm/reply"
)

// argument is a part of a command's syntax as COMMAND DOCS tells it, by which clients help
// people to type.
type argument struct {
	name, kind, token  string
	optional, multiple bool
	parts              []*argument // of a block or a oneof
}

// The kinds of arguments that have parts or a word only.
const (
	kindToken = "pure-token"
	kindBlock = "block"
	kindOneOf = "oneof"
)

// kindsOf are the kinds of arguments by their names, of others it is string.
var kindsOf = func() map[string]string {
	m := map[string]string{"pattern": "pattern"}
	for _, k := range [][2]string{
		{"key", "key key1 key2 source destination destkey dst src newkey"},
		{"integer", "count seconds milliseconds index offset cursor numkeys num-matches len limit db destination-db decrement timeout timeout-ms ttl rank start end stop bit numfields numids size min-idle-time ms slot protover bits level frequency client-id min-match-len entries-read entries-added lastsave maxage stop-ms"},
		{"double", "score longitude latitude radius width height weight"},
		{"unix-time", "unix-time-seconds unix-time-milliseconds"},
	} {
		for _, name := range ascii.Fields(k[1]) {
			m[name] = k[0]
		}
	}
	return m
}()

// syntaxReader reads the notation of Doc.Syntax: WORD, name, [optional], <one | other>,
// and [name ...] for what may be repeated.
type syntaxReader struct {
	left  []string
	group string // the family
}

var spaced = strings.NewReplacer("[", " [ ", "]", " ] ", "<", " < ", ">", " > ", "|", " | ")

// arguments are those of a row.
func (c *Command) arguments() []*argument {
	if c.bare {
		return nil
	}
	r := syntaxReader{group: c.Group(), left: ascii.Fields(spaced.Replace(c.Syntax))[c.words:]}
	return r.sequence("", false)
}

// sequence reads up to a closing word. In brackets a bar separates whole sequences; outside it
// separates its two neighbours.
func (r *syntaxReader) sequence(end string, whole bool) []*argument {
	var list []*argument
	var branches [][]*argument
	for len(r.left) > 0 {
		word := r.left[0]
		r.left = r.left[1:]
		switch {
		case word == end:
			return joined(list, branches)
		case word == "|" && whole:
			branches, list = append(branches, list), nil
		case word == "|":
			list = r.either(list)
		case word == "[":
			list = optional(list, r.sequence("]", true))
		case word == "<":
			list = append(list, r.sequence(">", true)...)
		case word == "...":
			list = append(list, &argument{name: "..."})
		default:
			list = append(list, r.unit(word))
		}
	}
	return joined(list, branches)
}

// joined is a sequence, or one of several.
func joined(list []*argument, branches [][]*argument) []*argument {
	if branches == nil {
		return list
	}
	choice := &argument{kind: kindOneOf}
	for _, b := range append(branches, list) {
		choice.parts = append(choice.parts, blockOf(b))
	}
	choice.name = nameOf(choice.parts)
	return []*argument{choice}
}

// either joins the last of a list with what follows the bar behind it.
func (r *syntaxReader) either(list []*argument) []*argument {
	if len(list) == 0 || len(r.left) == 0 {
		return list
	}
	last := list[len(list)-1]
	word := r.left[0]
	r.left = r.left[1:]
	var next *argument
	if word == "[" {
		next = blockOf(r.sequence("]", true))
		next.optional = true
	} else {
		next = r.unit(word)
	}
	if last.kind != kindOneOf {
		last = &argument{kind: kindOneOf, parts: []*argument{last}}
		list[len(list)-1] = last
	}
	last.parts = append(last.parts, next)
	last.name = nameOf(last.parts)
	return list
}

// unit is a word with the names that belong to it, or a name alone.
func (r *syntaxReader) unit(word string) *argument {
	if word != ascii.Upper(word) {
		return r.named(word)
	}
	u := &argument{name: ascii.Lower(word), kind: kindToken, token: word}
	if len(r.left) == 0 || !isName(r.left[0]) {
		return u
	}
	var names []*argument
	for len(r.left) > 0 && isName(r.left[0]) {
		names = append(names, r.named(r.left[0]))
		r.left = r.left[1:]
	}
	if len(names) == 1 {
		names[0].token = word
		return names[0]
	}
	return &argument{name: u.name, kind: kindBlock, token: word, parts: names}
}

func isName(word string) bool { return word[0] >= 'a' && word[0] <= 'z' }

func (r *syntaxReader) named(word string) *argument {
	kind := kindsOf[word]
	if kind == "" || r.group == "stream" && (word == "start" || word == "end") { // of a stream they are IDs
		kind = "string"
	}
	return &argument{name: word, kind: kind}
}

// blockOf is a sequence as one argument.
func blockOf(list []*argument) *argument {
	if len(list) == 1 {
		return list[0]
	}
	return &argument{name: nameOf(list), kind: kindBlock, parts: list}
}

func nameOf(parts []*argument) string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return strings.Join(names, "_")
}

// optional puts a group behind a list. One that repeats the end of the list says that
// there may be more of it.
func optional(list, group []*argument) []*argument {
	repeats := len(group) > 1 && group[len(group)-1].name == "..."
	if repeats {
		group = group[:len(group)-1]
	}
	if n := len(list) - len(group); repeats && n >= 0 && slices.EqualFunc(list[n:], group, sameArgument) {
		all := blockOf(slices.Clone(list[n:]))
		all.multiple = true
		return append(list[:n], all)
	}
	one := blockOf(group)
	one.optional, one.multiple = true, one.multiple || repeats
	return append(list, one)
}

func sameArgument(a, b *argument) bool {
	return a.name == b.name && (b.token == "" || a.token == b.token)
}

// docsOf returns the list in the form of COMMAND DOCS; keys counts the arguments that are keys.
func docsOf(list []*argument, specs int, keys *int) reply.Value {
	var all []reply.Value
	for _, a := range list {
		if a.name == "..." {
			continue
		}
		one := []reply.Value{reply.Bulk("name"), reply.Bulk(a.name), reply.Bulk("type"), reply.Bulk(a.kind)}
		if a.kind == "key" && specs > 0 {
			one = append(one, reply.Bulk("key_spec_index"), reply.Int(int64(min(*keys, specs-1))))
			*keys++
		}
		if a.token != "" {
			one = append(one, reply.Bulk("token"), reply.Bulk(a.token))
		}
		var flags []reply.Value
		if a.optional {
			flags = append(flags, reply.Status("optional"))
		}
		if a.multiple {
			flags = append(flags, reply.Status("multiple"))
		}
		if len(flags) > 0 {
			one = append(one, reply.Bulk("flags"), reply.Set(flags...))
		}
		if len(a.parts) > 0 {
			one = append(one, reply.Bulk("arguments"), docsOf(a.parts, specs, keys))
		}
		all = append(all, reply.Map(one...))
	}
	return reply.Array(all...)
}
