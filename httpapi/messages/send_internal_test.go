package messages

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzOneOrMore: a header of a batch is read as encoding/json reads it.
func FuzzOneOrMore(f *testing.F) {
	for _, s := range []string{`"plain"`, `""`, `"a\"b"`, `"\\ \/ \b\f\n\r\t"`, `"\ud83d\ude00"`, `"end\\"`, `"caf\u00e9"`, "\"caf\xc3\xa9\"", "\"\xff\"", `["a","b"]`, `[]`, `null`, `5`, `{}`, `[null]`, ` "x" `, `"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got map[string]oneOrMore
		err := json.Unmarshal([]byte(`{"h":`+text+`}`), &got)
		var one map[string]string
		var more map[string][]string
		want, failed := map[string]oneOrMore{}, json.Unmarshal([]byte(`{"h":`+text+`}`), &one)
		if failed == nil {
			for name, v := range one {
				want[name] = oneOrMore{v}
			}
		} else if failed = json.Unmarshal([]byte(`{"h":`+text+`}`), &more); failed == nil {
			for name, v := range more {
				want[name] = v
			}
		}
		if (err == nil) != (failed == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %q, %v, want %q, %v", text, got, err, want, failed)
		}
		var body map[string]looseText
		if err := json.Unmarshal([]byte(`{"h":`+text+`}`), &body); err == nil && one != nil && text != "" && text[0] == '"' && string(body["h"]) != one["h"] {
			t.Fatalf("%q: got %q, want %q", text, body["h"], one["h"])
		}
	})
}
