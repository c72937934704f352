package idn_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os/exec"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/httpurl"
	"github.com/trireme-dev/trireme/internal/idn"
)

// pieces are the parts of generated URLs: some of every kind that a parser of URLs treats differently.
var pieces = struct{ schemes, users, hosts, ports, paths, tails []string }{
	schemes: []string{"http://", "https://", "HTTP://", "http:\\\\", "hTTps:/\\", " \t\nhttp://", "ht\ntp://"},
	users:   []string{"", "", "", "", "u@", "u:p@", ":p@", "u:@", "@", ":@", "a@b@", "ü:p w/@", "u'\"<>`{}^|[]:;=$&+,%@", "%41%zz@"},
	hosts: []string{
		"h", "example.com", "EXAMPLE.com", "example.com.", "a_b.c", "h%41.de", "%e4%bd%a0.cn", "bücher.example", "BÜCHER.example", "faß.de", "☃.net", "h\u00ad.de",
		"xn--bcher-kva.example", "XN--BCHER-KVA.example", "xn--a", "xn--", "a.xn--ls8h.la", "👍.la", "ｅｘ.com", "a。b", "１２７.0.0.1", "1.2.3.4", "1.2.3.4.", "127.1", "0x7f.1", "017700000001",
		"0x7f000001", "4294967295", "4294967296", "256.1.1.1", "1.2.3.4.5", "1..2", "09", "0x", "0xg", "foo.0x4", "1.2.3.08", "a.1", "[::1]", "[::FFFF:1.2.3.4]", "[1:0:0:2:0:0:0:3]",
		"[2001:db8::]", "[::1%25eth0]", "[::1%eth0]", "[:::1]", "[1::2::3]", "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7::]", "[1::2:3:4:5:6:7:8]", "[::1.2.3]", "[::01.2.3.4]", "[::1", "::1",
		"[0:0:1:0:0:0:0:0]", "[1:2:3:4:5:6:1.2.3.4]", "[12345::]", "[]", "", "a b", "a%20b", "a<b", "a|b", "a^b", "a%b", "a%00b", "\u200d.de", "a\u0300.de", "א1.com", "a\u2260b", "-a-.b", "a--b", "ab--c.d",
	},
	ports: []string{"", "", "", "", ":", ":80", ":443", ":0080", ":8080", ":65535", ":65536", ":99999", ":-1", ":+1", ":8a", ":1:2", ": 80", ":８0"},
	paths: []string{
		"", "/", "/a", "/a b", "/\"<>`{}|\\[]'", "/ü/\u00a0", "/a/../b", "/a/./b/.", "/a/..", "/..", "/../..", "/a/%2e%2E/b", "/%2e", "/a/.%2E", "/...", "/.a", "//", "//a//..//b", "/%", "/100%/%zz%2",
		"/%41%2f", "/a\tb\nc", "/\u0001\u007f", "/a;b=c,d:e@f!g$h&i(j)*+k~", "/..\\a\\..\\b", "\\", "/😀", "/a%2Fb|c", "/%2e%2e%2e", "/a/b/../../../c/", "/. ./",
	},
	tails: []string{"", "", "?", "#", "?#", "?a=b", "?name=Ada L", "?q='\"<>`{}|\\^[]", "?ü=😀", "?a?b", "?a#b#c", "#a b\"<>`'{}|\\^", "?%%zz%41", "?a\tb\r", "?\u0001\u007f", "? ", "# ", " ", "?a=/../b"},
}

// corpus are URLs of every piece beside plain others, and random combinations.
func corpus() (list []string) {
	for _, s := range pieces.schemes {
		list = append(list, s+"h/a b")
	}
	for _, p := range pieces.users {
		list = append(list, "http://"+p+"h/a", "https://"+p)
	}
	for _, p := range pieces.hosts {
		list = append(list, "http://"+p+"/a", "http://"+p, "http://u@"+p+":81?x")
	}
	for _, p := range pieces.ports {
		list = append(list, "http://h"+p+"/a", "https://h"+p, "http://[::1]"+p)
	}
	for _, p := range pieces.paths {
		list = append(list, "http://h"+p, "https://h"+p+"?x")
	}
	for _, p := range pieces.tails {
		list = append(list, "http://h/a"+p, "http://h"+p)
	}
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	for range 5000 {
		list = append(list, pick(pieces.schemes)+pick(pieces.users)+pick(pieces.hosts)+pick(pieces.ports)+pick(pieces.paths)+pick(pieces.tails))
	}
	alphabet := []rune("aZ0 .%2eE/\\?#@:[]|^'\"<>`{}ü\u00ad。\t\x01\u007f😀-_~")
	for range 5000 {
		text := "http://h"
		for range random.IntN(16) {
			text += string(alphabet[random.IntN(len(alphabet))])
		}
		list = append(list, text)
	}
	return list
}

// TestAsNode compares what Read makes of URLs with the parser of Node, which is one of the standard's.
func TestAsNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	list := corpus()
	in, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), node, "-e", `
		let text = ''
		process.stdin.on('data', d => text += d).on('end', () => console.log(JSON.stringify(JSON.parse(text).map(u => {
			try { const n = new URL(u); return [n.href, n.hostname, n.port] } catch { return null }
		}))))`)
	c.Stdin = strings.NewReader(string(in))
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers [][]string
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(list) {
		t.Fatal(err, len(answers))
	}
	refused, same := 0, 0
	for i, text := range list {
		u, err := httpurl.Read(text, idn.ToASCII)
		switch n := answers[i]; {
		case err != nil && n != nil:
			if !stricter(text, n) {
				t.Errorf("%q is refused (%v), to Node it is %s", text, err, n[0])
			}
			refused++
		case err == nil && n == nil:
			t.Errorf("%q is read as %s, Node refuses it", text, u.String())
		case err == nil:
			if got := resolved(t, u); got != caret(n[0]) {
				t.Errorf("%q is read as %s, which is %s; to Node it is %s", text, u.String(), got, n[0])
			}
			same++
		}
	}
	if t.Logf("%d alike, %d refused by Read alone, of %d", same, refused, len(list)); same < 1000 {
		t.Error("too few were compared")
	}
}

// stricter reports whether Read is meant to refuse what Node takes: port 0, names that can't be resolved, and other
// than two slashes.
func stricter(text string, node []string) bool {
	slashes := 0
	_, rest, _ := strings.Cut(strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text), ":")
	for slashes < len(rest) && (rest[slashes] == '/' || rest[slashes] == '\\') {
		slashes++
	}
	if slashes != 2 || node[2] == "0" {
		return true
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(node[1], "."), ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || label[0] == '-' || label[len(label)-1] == '-' {
			return node[1][0] != '['
		}
	}
	return false
}

// resolved is the URL as Node shows it: what the standard does beyond escaping, with which Read leaves a user's URL alone.
func resolved(t *testing.T, u httpurl.URL) string {
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	if u.Port = strings.TrimLeft(u.Port, "0"); u.Scheme == "http" && u.Port == "80" || u.Scheme == "https" && u.Port == "443" {
		u.Port = ""
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil && addr.Is6() {
		text := addr.String()
		if addr.Is4In6() {
			b := addr.As16()
			text = fmt.Sprintf("::ffff:%x:%x", int(b[12])<<8|int(b[13]), int(b[14])<<8|int(b[15]))
		}
		u.Host = "[" + text + "]"
	} else if u.Host[0] == '[' {
		t.Errorf("%s is no address to netip", u.Host)
	}
	var kept []string
	segments := strings.Split(strings.TrimPrefix(u.Path, "/"), "/")
	for i, s := range segments {
		plain := strings.ReplaceAll(strings.ToLower(s), "%2e", ".")
		if plain == ".." {
			kept = kept[:max(0, len(kept)-1)]
		} else if plain != "." {
			kept = append(kept, s)
		}
		if (plain == ".." || plain == ".") && i == len(segments)-1 {
			kept = append(kept, "")
		}
	}
	u.Path = "/" + strings.Join(kept, "/")
	return u.String()
}

// caret escapes carets in the path and the user as the standard does since 2023; older releases of Node leave them.
func caret(href string) string {
	end := strings.IndexAny(href, "?#")
	if end < 0 {
		end = len(href)
	}
	return strings.ReplaceAll(href[:end], "^", "%5E") + href[end:]
}
