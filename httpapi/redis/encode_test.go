package redis

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/trireme-dev/trireme/fsm/reply"
)

func TestReplies(t *testing.T) {
	nested := reply.Array(reply.Status("OK"), reply.Int(1), reply.Array(reply.Bulk("x"), reply.Nil()), reply.Error("ERR inside"))
	for _, c := range []struct {
		v                  reply.Value
		json, base64, resp string
	}{
		{reply.OK(), `{"result":"OK"}`, `{"result":"OK"}`, "+OK\r\n"},
		{reply.Status("PONG"), `{"result":"PONG"}`, `{"result":"UE9ORw=="}`, "+PONG\r\n"},
		{reply.Status("string"), `{"result":"string"}`, `{"result":"c3RyaW5n"}`, "+string\r\n"},
		{reply.Bulk("bar"), `{"result":"bar"}`, `{"result":"YmFy"}`, "$3\r\nbar\r\n"},
		{reply.Bulk("OK"), `{"result":"OK"}`, `{"result":"T0s="}`, "$2\r\nOK\r\n"},
		{reply.Bulk(""), `{"result":""}`, `{"result":""}`, "$0\r\n\r\n"},
		{reply.Nil(), `{"result":null}`, `{"result":null}`, "$-1\r\n"},
		{reply.NilArray(), `{"result":null}`, `{"result":null}`, "*-1\r\n"},
		{reply.Int(math.MinInt64), `{"result":-9223372036854775808}`, `{"result":-9223372036854775808}`, ":-9223372036854775808\r\n"},
		{reply.Int(9007199254740993), `{"result":9007199254740993}`, `{"result":9007199254740993}`, ":9007199254740993\r\n"},
		{reply.Bool(true), `{"result":1}`, `{"result":1}`, ":1\r\n"},
		{reply.Double(1.5, "1.5"), `{"result":"1.5"}`, `{"result":"MS41"}`, "$3\r\n1.5\r\n"},
		{reply.Map(reply.Bulk("f"), reply.Int(1)), `{"result":["f",1]}`, `{"result":["Zg==",1]}`, "*2\r\n$1\r\nf\r\n:1\r\n"},
		{reply.Forms(reply.Bulk("[3]"), reply.Array(reply.Int(3))), `{"result":"[3]"}`, `{"result":"WzNd"}`, "$3\r\n[3]\r\n"},
		{reply.Keyed(reply.Bulk("k"), reply.Array(reply.Int(1))), `{"result":[["k",[1]]]}`, `{"result":[["aw==",[1]]]}`, "*1\r\n*2\r\n$1\r\nk\r\n*1\r\n:1\r\n"},
		{reply.Set(), `{"result":[]}`, `{"result":[]}`, "*0\r\n"},
		{reply.Verbatim("v"), `{"result":"v"}`, `{"result":"dg=="}`, "$1\r\nv\r\n"},
		{reply.BigNumber("123"), `{"result":"123"}`, `{"result":"MTIz"}`, "$3\r\n123\r\n"},
		{reply.Error(`ERR no "x"`), `{"error":"ERR no \"x\""}`, `{"error":"ERR no \"x\""}`, "-ERR no \"x\"\r\n"},
		{nested, `{"result":["OK",1,["x",null],"ERR inside"]}`, `{"result":["T0s=",1,["eA==",null],"RVJSIGluc2lkZQ=="]}`,
			"*4\r\n+OK\r\n:1\r\n*2\r\n$1\r\nx\r\n$-1\r\n-ERR inside\r\n"},
	} {
		for f, want := range map[Form]string{JSON: c.json, Base64: c.base64, RESP2: c.resp} {
			if got := string(AppendReply(nil, c.v, f)); got != want {
				t.Errorf("form %d: %s, want %s", f, got, want)
			}
		}
	}
}

func TestBatchReplies(t *testing.T) {
	values := []reply.Value{reply.OK(), reply.Error("WRONGTYPE x"), reply.Bulk("v")}
	for f, want := range map[Form]string{
		JSON:   `[{"result":"OK"},{"error":"WRONGTYPE x"},{"result":"v"}]`,
		Base64: `[{"result":"OK"},{"error":"WRONGTYPE x"},{"result":"dg=="}]`,
		RESP2:  "+OK\r\n-WRONGTYPE x\r\n$1\r\nv\r\n",
	} {
		if got := string(AppendBatch(nil, values, f)); got != want {
			t.Errorf("form %d: %s, want %s", f, got, want)
		}
	}
	if got := string(AppendBatch(nil, nil, JSON)); got != "[]" {
		t.Errorf("%s", got)
	}
}

func TestStringEscapes(t *testing.T) {
	for s, want := range map[string]string{
		"<a href='x'>&</a>":      `"<a href='x'>&</a>"`,
		"a\"b\\c/":               `"a\"b\\c/"`,
		"\n\r\t\b\f\x00\x1f\x7f": "\"\\n\\r\\t\\u0008\\u000c\\u0000\\u001f\x7f\"",
		"é€😀":                    `"é€😀"`,
		"\xff\xfea":              "\"\ufffd\ufffda\"",
		"\xe2\x82":               "\"\ufffd\ufffd\"",
		"a\xc3":                  "\"a\ufffd\"",
		"\ufffd":                 "\"\ufffd\"",
	} {
		if got := string(appendString(nil, s)); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}

// FuzzString reads with encoding/json what was written, in both JSON forms.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", "\x00\xff\"\\", "é€😀\u2028", "\xed\xa0\x80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got struct{ Result string }
		if err := json.Unmarshal(AppendReply(nil, reply.Bulk(s), JSON), &got); err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		for _, r := range s { // a range gives U+FFFD for each byte that isn't UTF-8
			want.WriteRune(r)
		}
		if got.Result != want.String() || !utf8.ValidString(got.Result) {
			t.Fatalf("%q became %q", s, got.Result)
		}
		if err := json.Unmarshal(AppendReply(nil, reply.Bulk(s), Base64), &got); err != nil {
			t.Fatal(err)
		}
		if raw, err := base64.StdEncoding.DecodeString(got.Result); err != nil || string(raw) != s {
			t.Fatalf("%q became %q: %v", s, raw, err)
		}
	})
}

func BenchmarkReply(b *testing.B) {
	v := reply.Bulk(strings.Repeat("x", 64))
	for _, f := range []struct {
		name string
		form Form
	}{{"json", JSON}, {"base64", Base64}, {"resp2", RESP2}} {
		b.Run(f.name, func(b *testing.B) {
			var out []byte
			b.ReportAllocs()
			for b.Loop() {
				out = AppendReply(out[:0], v, f.form)
			}
		})
	}
}

// TestSize: the size of a reply is the length of what is written, in JSON to the byte.
func TestSize(t *testing.T) {
	text := "plain \x00\x01\n\r\t\"\\/ \x7f \u00e4 \u2028 \U0001F600 \xff\xc3( end"
	values := []reply.Value{
		reply.Nil(), reply.NilArray(), reply.OK(), reply.Status(text), reply.Bulk(text), reply.Bulk(""), reply.Error("ERR " + text), reply.Int(0), reply.Int(-1 << 63),
		reply.Array(), reply.Array(reply.Bulk(text), reply.Int(7), reply.Array(reply.Nil(), reply.Bulk("x"))),
	}
	for _, v := range values {
		for _, f := range []Form{JSON, Base64, RESP2} {
			got, want := Size(v, f), int64(len(AppendReply(nil, v, f)))
			if f != RESP2 && got != want || got < want || got > MostWritten*(want+32) {
				t.Errorf("form %d, %q: %d bytes, counted %d", f, AppendReply(nil, v, f), want, got)
			}
		}
	}
}
