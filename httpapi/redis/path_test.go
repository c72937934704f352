package redis

import (
	"bytes"
	"errors"
	"net/url"
	"strings"
	"testing"
)

// list returns words for a table: each in brackets, so that empty ones and blanks show.
func list(argv [][]byte) string {
	var b strings.Builder
	for _, a := range argv {
		b.WriteString("[" + string(a) + "]")
	}
	return b.String()
}

func TestTargetBecomesArguments(t *testing.T) {
	for target, want := range map[string]string{
		"":                             "",
		"/":                            "",
		"//":                           "",
		"/get/foo":                     "[get][foo]",
		"/get/foo/":                    "[get][foo]",
		"/get/foo//":                   "[get][foo][]",
		"/set//v":                      "[set][][v]",
		"/get/a%2Fb":                   "[get][a/b]",
		"/get/a%2fb%20c":               "[get][a/b c]",
		"/zrange/k/+inf/0":             "[zrange][k][+inf][0]",
		"/get/%2B":                     "[get][+]",
		"/get/%ff%00":                  "[get][\xff\x00]",
		"/get/user:*@=,;":              "[get][user:*@=,;]",
		"/get/../x/./y":                "[get][..][x][.][y]",
		`/get/a"b|c^d{e\f`:             `[get][a"b|c^d{e\f]`,
		"/set/k/v?EX=100":              "[set][k][v][EX][100]",
		"/set/k/v?EX=100&NX":           "[set][k][v][EX][100][NX]",
		"/set/k/v?NX=&EX=5":            "[set][k][v][NX][EX][5]",
		"/set/k/v?a=1&a=2&b=x+y%2B":    "[set][k][v][a][1][a][2][b][x y+]",
		"/x?_token=t&a=1&_token=u":     "[x][a][1]",
		"/x?a=1&%5Ftoken=t":            "[x][a][1]",
		"/x?&&a=b=c&":                  "[x][a][b=c]",
		"/x?=v":                        "[x][][v]",
		"/x?a=1?b=2":                   "[x][a][1?b=2]",
		"http://h:80/get/a%2Fb?x=1":    "[get][a/b][x][1]",
		"http://h":                     "",
		"http://h?EX=1":                "[EX][1]",
		"/get/http://x":                "[get][http:][][x]",
		"/zrevrange/s/0/1/?_token=abc": "[zrevrange][s][0][1]",
	} {
		var w Words
		path, query := CutTarget(target)
		if err := errors.Join(w.Path(path), w.Query(query)); err != nil {
			t.Errorf("%s: %v", target, err)
		} else if got := list(w.Argv()); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
}

func TestBrokenEscapesAreRefused(t *testing.T) {
	for _, s := range []string{"%", "a%", "%2", "%g0", "%0g", "a/%zz/b", "%%30"} {
		var w Words
		if err := w.Path(s); !errors.Is(err, ErrEscape) {
			t.Errorf("path %s: %v", s, err)
		}
		w.Reset()
		if err := w.Query(strings.ReplaceAll(s, "/", "&")); !errors.Is(err, ErrEscape) {
			t.Errorf("query %s: %v", s, err)
		}
	}
}

func TestToken(t *testing.T) {
	for query, want := range map[string]string{
		"":                      "-",
		"EX=1":                  "-",
		"_token":                "",
		"_token=abc":            "abc",
		"EX=1&_token=a%2Bb%3D":  "a+b=",
		"_token=first&_token=2": "first",
		"x=_token=1":            "-",
		"%5ftoken=abc":          "abc",
		"_tokens=abc":           "-",
		"_token=%zz":            "-",
	} {
		got := "-"
		if token, found := Token(nil, query); found {
			got = string(token)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// FuzzTarget compares the splitter with net/url, which decodes segments in the same way.
func FuzzTarget(f *testing.F) {
	for _, s := range []string{"/get/a%2Fb", "/set/k/v?EX=1&NX", "//a//", "http://h/x?_token=1", "/%", "/?+=%2b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, target string) {
		path, query := CutTarget(target)
		var w Words
		if err := w.Path(path); err == nil {
			comparePath(t, path, w.Argv())
		} else if _, bad := url.PathUnescape(path); bad == nil {
			t.Fatalf("%q refused: %v", path, err)
		}
		w.Reset()
		if err := w.Query(query); err == nil {
			compareQuery(t, query, w.Argv())
		}
	})
}

func comparePath(t *testing.T, path string, argv [][]byte) {
	path = strings.TrimSuffix(path, "/")
	if path == "" {
		if len(argv) != 0 {
			t.Fatalf("%d arguments of an empty path", len(argv))
		}
		return
	}
	segments := strings.Split(path, "/")
	if len(segments) != len(argv) {
		t.Fatalf("%q: %d arguments of %d segments", path, len(argv), len(segments))
	}
	for i, s := range segments {
		if want, err := url.PathUnescape(s); err != nil || want != string(argv[i]) {
			t.Fatalf("%q: argument %d is %q, want %q (%v)", path, i, argv[i], want, err)
		}
	}
}

func compareQuery(t *testing.T, query string, argv [][]byte) {
	var want [][]byte
	for _, p := range strings.Split(query, "&") {
		name, value, _ := strings.Cut(p, "=")
		n, err := url.QueryUnescape(name)
		if p == "" || n == TokenParameter {
			continue
		}
		v, err2 := url.QueryUnescape(value)
		if err != nil || err2 != nil {
			t.Fatalf("%q was accepted: %v %v", query, err, err2)
		}
		if want = append(want, []byte(n)); v != "" {
			want = append(want, []byte(v))
		}
	}
	if !equalWords(argv, want) {
		t.Fatalf("%q: %q, want %q", query, argv, want)
	}
}

func equalWords(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
