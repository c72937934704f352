package growth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trireme-dev/trireme/fsm/glob"
	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/rdb"
	"github.com/trireme-dev/trireme/resp/protocol"
)

// Families are the hostile inputs of every parser that reads the bytes of strangers.
func Families() []Family {
	var all []Family
	for _, of := range []func() []Family{protocolFamilies, rdbFamilies, scriptFamilies, patternFamilies, pathFamilies, globFamilies} {
		all = append(all, of()...)
	}
	return all
}

// filled returns n bytes: head, repetitions of repeat, and tail.
func filled(head, repeat, tail string, n int) string {
	return head + strings.Repeat(repeat, max(1, (n-len(head)-len(tail))/len(repeat))) + tail
}

// protocolFamilies feed the parser of requests whole and in small pieces.
func protocolFamilies() []Family {
	kinds := map[string]func(n int) string{
		"many small words": func(n int) string { return filled(fmt.Sprintf("*%d\r\n", n/7), "$1\r\na\r\n", "", n-10) },
		"one long word":    func(n int) string { return fmt.Sprintf("*1\r\n$%d\r\n%s\r\n", n, strings.Repeat("x", n)) },
		"empty commands":   func(n int) string { return filled("", "*0\r\n", "", n) },
		"a long count":     func(n int) string { return filled("*", "1", "\r\n", n) },
		"an endless line":  func(n int) string { return filled("", "x", "", n) },
		"blanks":           func(n int) string { return filled("PING", " ", "\r\n", n) },
		"words of a line":  func(n int) string { return filled("SET", " a", "\r\n", n) },
		"escapes":          func(n int) string { return filled(`SET "`, `\x41\"`, "\"\r\n", n) },
		"quotes":           func(n int) string { return filled("SET", ` ''`, "\r\n", n) },
		"an open quote":    func(n int) string { return filled(`SET "`, "a", "\r\n", n) },
		"empty lines":      func(n int) string { return filled("", "\r\n", "", n) },
	}
	limits := protocol.Limits{Words: 1 << 20, Bulk: 1 << 20, Total: 1 << 21, Inline: 1 << 20}
	var all []Family
	for _, name := range sortedNames(kinds) {
		for _, piece := range []int{0, 64} {
			label := "RESP: " + name
			if piece > 0 {
				label += ", in pieces"
			}
			all = append(all, Family{label, func(n int) func() {
				text := []byte(kinds[name](n))
				return func() { feed(text, piece, &limits) }
			}})
		}
	}
	return all
}

// feed gives a parser a stream whole, or as it arrives piece by piece.
func feed(text []byte, piece int, l *protocol.Limits) {
	var p protocol.Parser
	if piece == 0 {
		piece = len(text)
	}
	from := 0
	for end := 0; end < len(text); {
		end = min(end+piece, len(text))
		for {
			_, size, err := p.Next(text[from:end], l)
			if errors.Is(err, protocol.ErrIncomplete) {
				break
			}
			if err != nil {
				return // nothing can be read behind a breach
			}
			from += size
			p.Release()
		}
	}
}

// globFamilies match patterns on texts that almost match them, a long text with a short
// pattern, a long pattern with a short text, and both long.
func globFamilies() []Family {
	match := func(pattern, text string) func() { return func() { glob.Match(pattern, text) } }
	a := func(n int) string { return strings.Repeat("a", n) }
	return []Family{
		{"glob: a long text", func(n int) func() { return match("*a?a*a[ab]a*b", a(n)) }},
		{"glob: a long pattern of stars", func(n int) func() { return match(filled("", "*", "b", n), a(100)) }},
		{"glob: a long pattern, a long text", func(n int) func() { return match("*"+a(n/2)+"b", a(n)) }},
		{"glob: a long pattern of ?, a long text", func(n int) func() { return match(filled("*a", "?", "b", n/2), a(n)) }},
		{"glob: stars within, a long text", func(n int) func() { return match(filled("", "a*", "b", n/2), a(n)) }},
		{"glob: a long class, a long text", func(n int) func() { return match(filled("*[", "b", "a]b", n/2), a(n/2)) }},
		{"glob: an open class", func(n int) func() { return match(filled("*[", "b", "", n/2), a(n/2)) }},
		{"glob: many open classes", func(n int) func() { return match(filled("", "*[", "", n/2), a(n/2)) }},
		{"glob: escapes", func(n int) func() { return match(filled("*", `\a`, "b", n/2), a(n/2)) }},
	}
}

// pathFamilies parse paths and follow them through a document.
func pathFamilies() []Family {
	parse := func(of func(n int) string) func(n int) func() {
		return func(n int) func() {
			text := of(n)
			return func() { _, _ = jsondoc.ParsePath(text) } // refused or not, it has to be read
		}
	}
	find := func(document func(n int) string, path string) func(n int) func() {
		return func(n int) func() {
			root, err := jsondoc.Parse([]byte(document(n)))
			p, bad := jsondoc.ParsePath(path)
			if err != nil || bad != nil {
				panic(fmt.Sprint(err, bad)) // of this table
			}
			return func() { _, _ = jsondoc.Find(root, p, jsondoc.NewWork()) } // too much work is refused
		}
	}
	wide := func(n int) string { return filled("[", `{"a":1},`, "0]", n) }
	deep := func(n int) string {
		return filled("[", strings.Repeat(`{"a":`, 60)+"[1]"+strings.Repeat("}", 60)+",", "0]", n)
	}
	text := func(n int) string { return filled(`["`, "a", `"]`, n) }
	return []Family{
		{"JSONPath: many names", parse(func(n int) string { return filled("$", ".a", "", n) })},
		{"JSONPath: many deep steps", parse(func(n int) string { return filled("$", "..a", "", n) })},
		{"JSONPath: many brackets", parse(func(n int) string { return filled("$", "['a']", "", n) })},
		{"JSONPath: one union", parse(func(n int) string { return filled("$[", "'a',", "0]", n) })},
		{"JSONPath: a key of escapes", parse(func(n int) string { return filled("$['", `\'`, "']", n) })},
		{"JSONPath: open brackets", parse(func(n int) string { return filled("$", "[", "", n) })},
		{"JSONPath: a long condition", parse(func(n int) string { return filled("$[?(", "@.a==1||", "@.b)]", n) })},
		{"JSONPath: nested conditions", parse(func(n int) string { return filled("$[?", "(", "@", n) })},
		{"JSONPath: negations", parse(func(n int) string { return filled("$[?(", "!", "@)]", n) })},
		{"JSONPath: an expression", parse(func(n int) string { return filled("$[?(@.a=~'", "a*", "')]", n) })},
		{"JSONPath: many expressions", parse(func(n int) string { return filled("$[?(", "@=~'(a|b)*'||", "@)]", n) })},
		{"JSONPath: digits", parse(func(n int) string { return filled("$[", "1", "]", n) })},
		{"JSONPath: digits of a number", parse(func(n int) string { return filled("$[?(@==1.", "1", ")]", n) })},
		{"JSONPath: all of a wide document", find(wide, "$..*")},
		{"JSONPath: a filter on a wide document", find(wide, "$[?(@.a>0&&@.a<2)]")},
		{"JSONPath: a filter with the root", find(wide, "$[?(@.a==$[0].a)]")},
		{"JSONPath: a filter with a search", find(wide, "$[?(@==$..b)]")},
		{"JSONPath: deep steps", find(deep, "$..a..a..a")},
		{"JSONPath: deep stars", find(deep, "$..*..*")},
		{"JSONPath: an expression on a long text", find(text, "$[?(@=~'(a*)*(a*)*b')]")},
		{"JSONPath: slices backwards", find(wide, "$[::-1]")},
	}
}

// rdbFamilies read values and files.
func rdbFamilies() []Family {
	const now = 1_700_000_000_000
	decode := func(of func(n int) []byte) func(n int) func() {
		return func(n int) func() {
			b := of(n)
			return func() { _, _ = rdb.Decode(b, now, 64<<20) } // refused or not, it has to be read
		}
	}
	counted := func(kind rdb.Type, each string) func(n int) []byte {
		return func(n int) []byte {
			count := n / len(each)
			return append([]byte{byte(kind), 0x80, byte(count >> 24), byte(count >> 16), byte(count >> 8), byte(count)}, strings.Repeat(each, count)...)
		}
	}
	numbered := func(kind rdb.Type, behind string) func(n int) []byte {
		return func(n int) []byte {
			count := n / (7 + len(behind))
			b := []byte{byte(kind), 0x80, byte(count >> 24), byte(count >> 16), byte(count >> 8), byte(count)}
			for i := range count {
				b = append(fmt.Appendf(b, "\x06%06x", i), behind...)
			}
			return b
		}
	}
	return []Family{
		{"RDB: a packed text of one byte", decode(func(n int) []byte {
			size := 1 + 264*(n/3)
			packed := append([]byte{0, 'a'}, strings.Repeat("\xe0\xff\x00", n/3)...)
			b := []byte{byte(rdb.TypeString), 0xc3, 0x80, byte(len(packed) >> 24), byte(len(packed) >> 16), byte(len(packed) >> 8), byte(len(packed))}
			return append(append(b, 0x80, byte(size>>24), byte(size>>16), byte(size>>8), byte(size)), packed...)
		})},
		{"RDB: a list of empty texts", decode(counted(rdb.TypeList, "\x00"))},
		{"RDB: a list of numbers", decode(counted(rdb.TypeList, "\xc0\x07"))},
		{"RDB: a set of one element", decode(counted(rdb.TypeSet, "\x01a"))},
		{"RDB: a set", decode(numbered(rdb.TypeSet, ""))},
		{"RDB: a hash", decode(numbered(rdb.TypeHash, "\x01v"))},
		{"RDB: a sorted set of equal scores", decode(numbered(rdb.TypeZSet, "\xfe"))},
		{"RDB: lists of one empty part", decode(counted(rdb.TypeListQuicklist2, "\x02\x07\x07\x00\x00\x00\x00\x00\xff"))},
		{"RDB: a file of small keys", func(n int) func() {
			file := fileOf(n, "\x00\x01k\x01v")
			return func() { readFile(file, 1<<20) }
		}},
		{"RDB: a file of values that are too large", func(n int) func() {
			file := fileOf(n, "\x01\x01k\x02\x05hello\x05world")
			return func() { readFile(file, 4) }
		}},
		{"RDB: a file of remarks", func(n int) func() {
			file := fileOf(n, "\xfa\x01a\x01b")
			return func() { readFile(file, 1<<20) }
		}},
	}
}

// fileOf is a file that ends too early.
func fileOf(n int, item string) []byte { return []byte(filled("REDIS0011", item, "", n)) }

func readFile(b []byte, most int) {
	f, err := rdb.OpenFile(bytes.NewReader(b), most)
	for err == nil {
		_, err = f.Next()
	}
	if errors.Is(err, io.EOF) {
		panic("a file without an end was read to its end")
	}
}
