package searchindex

import (
	"math"
	"strconv"
	"time"

	"github.com/trireme-dev/trireme/fsm/jsondoc"
	"github.com/trireme-dev/trireme/fsm/search"
)

// Ordered bits: numbers of a type as integers in the same order.

func orderedFloat(f float64) uint64 {
	if f == 0 {
		f = 0 // no negative zero
	}
	bits := math.Float64bits(f)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

func floatOf(bits uint64) float64 {
	if bits>>63 != 0 {
		return math.Float64frombits(bits &^ (1 << 63))
	}
	return math.Float64frombits(^bits)
}

func orderedInt(i int64) uint64 { return uint64(i) ^ 1<<63 }

func intOf(bits uint64) int64 { return int64(bits ^ 1<<63) }

// number is the ordered bits of a number or boolean of JSON as a value of a type; false if it is none. Dates come as text.
func number(t search.FieldType, v jsondoc.Value) (uint64, bool) {
	switch t {
	case search.Bool:
		b, ok := v.(jsondoc.Bool)
		if b {
			return 1, true
		}
		return 0, ok
	case search.Date:
		s, ok := v.(jsondoc.String)
		if !ok {
			return 0, false
		}
		return date(string(s))
	case search.U64:
		return unsigned(v)
	case search.I64:
		return signed(v)
	case search.F64:
		f, ok := float(v)
		return orderedFloat(f), ok
	}
	return 0, false
}

// float is a number of JSON as a double; false if it is none.
func float(v jsondoc.Value) (float64, bool) {
	switch n := v.(type) {
	case jsondoc.Int:
		return float64(n), true
	case jsondoc.Uint:
		return float64(n), true
	case jsondoc.Double:
		return float64(n), true
	}
	return 0, false
}

// unsigned is a number as a U64.
func unsigned(v jsondoc.Value) (uint64, bool) {
	switch n := v.(type) {
	case jsondoc.Int:
		return uint64(n), n >= 0
	case jsondoc.Uint:
		return uint64(n), true
	case jsondoc.Double:
		return uint64(n), n >= 0 && float64(n) == math.Trunc(float64(n)) && n < 1<<64
	}
	return 0, false
}

// signed is a number as an I64.
func signed(v jsondoc.Value) (uint64, bool) {
	switch n := v.(type) {
	case jsondoc.Int:
		return orderedInt(int64(n)), true
	case jsondoc.Uint:
		return orderedInt(int64(n)), n <= math.MaxInt64
	case jsondoc.Double:
		return orderedInt(int64(n)), float64(n) == math.Trunc(float64(n)) && n >= -1<<63 && n < 1<<63
	}
	return 0, false
}

// date is a time in RFC 3339 as ordered microseconds since 1970.
func date(text string) (uint64, bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return 0, false
	}
	return orderedInt(t.UnixMicro()), true
}

// written is the value that a text of a hash or stream stands for.
func written(t search.FieldType, text string) (uint64, bool) {
	switch t {
	case search.Bool:
		switch text {
		case "true":
			return 1, true
		case "false":
			return 0, true
		}
	case search.Date:
		return date(text)
	case search.U64:
		n, err := strconv.ParseUint(text, 10, 64)
		return n, err == nil
	case search.I64:
		n, err := strconv.ParseInt(text, 10, 64)
		return orderedInt(n), err == nil
	case search.F64:
		f, err := strconv.ParseFloat(text, 64)
		return orderedFloat(f), err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
	}
	return 0, false
}
