package searchindex

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/trireme-dev/trireme/fsm/reply"
	"github.com/trireme-dev/trireme/fsm/search"
)

// keyReply is a value of a field in a result, with its text where that says more.
func (f *field) keyReply(k bucketKey) (v, text reply.Value) {
	switch f.Type {
	case search.U64:
		if k.number <= math.MaxInt64 {
			return reply.Int(int64(k.number)), text
		}
		return reply.Number(float64(k.number)), text
	case search.I64:
		return reply.Int(intOf(k.number)), text
	case search.Bool:
		return reply.Int(int64(k.number)), reply.Bulk(strconv.FormatBool(k.number == 1))
	case search.Date:
		return reply.Number(f.asFloat(k.number)), reply.Bulk(dateText(f.asFloat(k.number)))
	case search.F64:
		return reply.Number(floatOf(k.number)), text
	}
	return reply.Bulk(k.text), text
}

// dateText is a time of unix milliseconds in RFC 3339.
func dateText(ms float64) string {
	return time.UnixMicro(int64(ms * 1000)).UTC().Format(time.RFC3339Nano)
}

func (f *field) keyPairs(k bucketKey) []reply.Value {
	v, text := f.keyReply(k)
	out := pair("key", v)
	if !text.IsNil() {
		out = append(out, pair("keyAsString", text)...)
	}
	return out
}

func compareKeys(a, b bucketKey) int {
	return cmp.Or(cmp.Compare(a.number, b.number), strings.Compare(a.text, b.text))
}
