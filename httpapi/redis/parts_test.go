package redis

import (
	"slices"
	"strings"
	"testing"

	"github.com/trireme-dev/trireme/fsm/reply"
)

// longTexts returns texts longer than a part. Where they are cut they have runes, or bytes that are no runes.
func longTexts() map[string]string {
	texts := map[string]string{"zeros": strings.Repeat("\x00", 2*textPart), "no text": strings.Repeat("\xa4", textPart+1), "one part": strings.Repeat("x", textPart)}
	for _, before := range []int{1, 2, 3, 4} {
		texts["runes after "+strings.Repeat("x", before)] = strings.Repeat("x", textPart-before) + strings.Repeat("\U0001F600\u00e4\u2028\"\xff", textPart/64)
	}
	return texts
}

// TestRepliesInParts: a reply written in parts equals one written at once, in all forms, and no part is longer than one
// part of a text may become.
func TestRepliesInParts(t *testing.T) {
	values := []reply.Value{reply.OK(), reply.Int(7), reply.Nil(), reply.Array(), reply.Error("ERR none"), reply.Status("PONG"), reply.Double(1.5, "1.5"), reply.Bulk("short")}
	for _, text := range longTexts() {
		values = append(values, reply.Bulk(text), reply.Verbatim(text), reply.Array(reply.Int(1), reply.Bulk(text), reply.Array(reply.Bulk("x"), reply.Bulk(text))),
			reply.Map(reply.Bulk("f"), reply.Bulk(text)), reply.Keyed(reply.Bulk("k"), reply.Array(reply.Bulk(text))), reply.Forms(reply.Bulk(text), reply.Array()))
	}
	values = append(values, reply.Array(slices.Repeat([]reply.Value{reply.Bulk("many")}, 5000)...))
	for _, f := range []Form{JSON, Base64, RESP2} {
		const size = 1000
		var got, part []byte
		parts, longest := 0, 0
		flush := func(b []byte) []byte {
			parts, longest, got = parts+1, max(longest, len(b)), append(got, b...)
			return b[:0]
		}
		for i, v := range values {
			part = StreamBatchElement(part, v, i, len(values), f, size, flush)
		}
		got = append(got, part...)
		if want := AppendBatch(nil, values, f); string(got) != string(want) {
			t.Errorf("form %d: %d bytes in parts, %d at once", f, len(got), len(want))
		}
		if most := size + MostWritten*textPart + 10; parts < 20 || longest > most {
			t.Errorf("form %d: %d parts of up to %d bytes, most %d", f, parts, longest, most)
		}
	}
}

// TestSizeOfLongTexts: long texts are measured in parts, and the sizes add up to the whole.
func TestSizeOfLongTexts(t *testing.T) {
	for name, text := range longTexts() {
		text = strings.Repeat(text, yieldAbove/len(text)+1)
		if got, want := sizeString(text), int64(len(appendString(nil, text))); got != want {
			t.Errorf("%s: %d bytes, counted %d", name, want, got)
		}
	}
}
