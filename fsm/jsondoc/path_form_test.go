package jsondoc

import (
	"testing"
)

// TestPathForms says of each form of a path whether it is JSONPath or a legacy path, and what it reads in JSONPath. A form
// without a reading is an error. JSONPath is $ alone and what begins with "$." or "$[".
func TestPathForms(t *testing.T) {
	const jsonPath, legacy = false, true
	for _, c := range []struct {
		text    string
		legacy  bool
		reading string
	}{
		{"$", jsonPath, "$"}, {"$.a", jsonPath, "$.a"}, {"$..a", jsonPath, "$..a"}, {"$[0]", jsonPath, "$[0]"}, {`$["a"]`, jsonPath, `$["a"]`},
		{"$.*", jsonPath, "$.*"}, {"$[*]", jsonPath, "$[*]"}, {"$.[0]", jsonPath, "$.[0]"}, {"$.$", jsonPath, "$.$"}, {"$.$a", jsonPath, "$.$a"}, {"$[-1:]", jsonPath, "$[-1:]"},
		{"$.", jsonPath, ""}, {"$..", jsonPath, ""}, {"$[", jsonPath, ""}, {"$[]", jsonPath, ""}, {"$.a.", jsonPath, ""}, {"$.a b", jsonPath, ""}, {"$.a$", jsonPath, "$.a$"},

		{".", legacy, "$"}, {".a", legacy, "$.a"}, {"a", legacy, "$.a"}, {".a.b", legacy, "$.a.b"}, {"a.b", legacy, "$.a.b"}, {"..a", legacy, "$..a"},
		{"[0]", legacy, "$[0]"}, {".[0]", legacy, "$[0]"}, {"a[0]", legacy, "$.a[0]"}, {"a[-1]", legacy, "$.a[-1]"}, {`["a"]`, legacy, `$["a"]`}, {`.["a"]`, legacy, `$["a"]`}, {`['a']`, legacy, `$['a']`},
		{"_x", legacy, "$._x"}, {"a-b", legacy, "$.a-b"}, {"-1", legacy, "$.-1"}, {"0", legacy, "$.0"}, {"имя", legacy, "$.имя"}, {"*", legacy, "$.*"}, {"a$", legacy, "$.a$"}, {"@", legacy, "$.@"},
		{"$a", legacy, "$.$a"}, {"$a.b", legacy, "$.$a.b"}, {"$a[0]", legacy, "$.$a[0]"}, {"$$", legacy, "$.$$"}, {"$$.a", legacy, "$.$$.a"}, {"$1", legacy, "$.$1"}, {"$-", legacy, "$.$-"}, {"$_", legacy, "$.$_"},
		{"$имя", legacy, "$.$имя"}, {".$a", legacy, "$.$a"}, {".$", legacy, "$.$"},
		{"", legacy, ""}, {"a.", legacy, ""}, {"a b", legacy, ""}, {"a[", legacy, ""}, {"a]", legacy, ""}, {" ", legacy, ""}, {" $", legacy, ""}, {"$ ", legacy, ""}, {"$ .a", legacy, ""}, {`$"a"`, legacy, ""}, {"$(a)", legacy, ""},
		{"$=1", legacy, ""}, {"$*", legacy, ""}, {"$a.", legacy, ""}, {"...", legacy, ""}, {"$\xff", legacy, ""},
	} {
		p, err := ParsePath(c.text)
		switch {
		case c.reading == "" && err == nil:
			t.Errorf("%q is read as %s, want an error", c.text, p.Text)
		case c.reading != "" && err != nil:
			t.Errorf("%q: %v", c.text, err)
		case err == nil && (p.Legacy != c.legacy || p.Text != c.reading):
			t.Errorf("%q is read as %s, legacy: %v; want %s, legacy: %v", c.text, p.Text, p.Legacy, c.reading, c.legacy)
		}
	}
}
