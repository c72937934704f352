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

// FuzzItems: a batch that is read in one pass is read as encoding/json reads it.
func FuzzItems(f *testing.F) {
	for _, s := range []string{
		`[]`, ` [ ] `, `[{}]`, `[{}, {} ]`, `[{"destination":"https://a.example","headers":{"Svc-Delay":"1h","x":["a","b"],"y":[]},"body":"one \"two\"\n","queue":"q"}]`,
		`[{"destination":"a","destination":"b","body":"x","body":"","headers":{"a":"1"},"headers":{"a":["2"],"b":"3"}}]`, `[{"body":{"a":1}}]`, `[{"body":null}]`, `[{"Body":"x"}]`,
		`[{"other":"x"}]`, `[{"headers":{"a":null}}]`, `[{"headers":{}}]`, `[{"body":"\u00e9"}]`, "[{\"body\":\"caf\xc3\xa9\"}]", "[{\"body\":\"\xff\"}]", "[{\"body\":\"a\tb\"}]", `[{"body":"a\`,
		`[{"body":"x"}`, `[{"body":"x"},]`, `[{"body":"x",}]`, `[{"body" "x"}]`, `[] []`, `{}`, `[{"headers":{"a":["b",]}}]`, `[{"headers":["a"]}]`, `["a"]`, `null`, ``,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, ok := readItems(body)
		if !ok {
			return
		}
		var want []item
		if err := json.Unmarshal(body, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %+v, want %+v, %v", body, got, want, err)
		}
	})
}

// sdkBatch is a step as an SDK submits it.
const sdkBatch = `[{"body":"{\"stepId\":1,\"stepName\":\"first\",\"stepType\":\"Run\",\"out\":\"\\\"done\\\"\",\"concurrent\":1}","headers":{` +
	`"Upstash-Workflow-Init":"false","Upstash-Workflow-RunId":"wfr_abcdefghijklmnop","Upstash-Workflow-Url":"https://app.example/api/workflow","Upstash-Feature-Set":"LazyFetch,InitialBody,WF_DetectTrigger",` +
	`"Upstash-Workflow-Sdk-Version":"1","content-type":"application/json","Upstash-Forward-Upstash-Workflow-Sdk-Version":"1","Upstash-Retries":"3"},"destination":"https://app.example/api/workflow"}]`

// TestItemsOfSDKs: the form that SDKs write is read in one pass.
func TestItemsOfSDKs(t *testing.T) {
	if items, ok := readItems([]byte(sdkBatch)); !ok || len(items) != 1 || len(items[0].Headers) != 8 {
		t.Fatalf("read %+v, %v", items, ok)
	}
}

func BenchmarkItems(b *testing.B) {
	body := []byte(sdkBatch)
	b.Run("one pass", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, ok := readItems(body); !ok {
				b.Fatal("not read")
			}
		}
	})
	b.Run("encoding/json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var items []item
			if err := json.Unmarshal(body, &items); err != nil {
				b.Fatal(err)
			}
		}
	})
}
