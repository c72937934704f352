package reply

import "strconv"

// AppendRESP3 writes v as RESP3, the newer wire form of the Redis protocol.
func AppendRESP3(b []byte, v Value) []byte {
	switch v.kind {
	case KindNil, KindNilArray:
		return append(b, "_\r\n"...)
	case KindBool:
		if v.num != 0 {
			return append(b, "#t\r\n"...)
		}
		return append(b, "#f\r\n"...)
	case KindDouble:
		return appendLine(b, ',', v.text)
	case KindBigNumber:
		return appendLine(b, '(', v.text)
	case KindVerbatim:
		b = appendCount(b, '=', len(v.text)+len("txt:"))
		return append(append(append(b, "txt:"...), v.text...), '\r', '\n')
	case KindMap, KindKeyed:
		return appendAll(appendCount(b, '%', len(v.elems)/2), v.elems)
	case KindSet:
		return appendAll(appendCount(b, '~', len(v.elems)), v.elems)
	case KindPush:
		return appendAll(appendCount(b, '>', len(v.elems)), v.elems)
	case KindArray:
		return appendAll(appendCount(b, '*', len(v.elems)), v.elems)
	case KindForms:
		return AppendRESP3(b, v.RESP3())
	case KindPairs:
		b = appendCount(b, '*', len(v.elems)/2)
		for i := 0; i+1 < len(v.elems); i += 2 {
			b = appendAll(appendCount(b, '*', 2), v.elems[i:i+2])
		}
		return b
	}
	return AppendRESP2(b, v) // statuses, errors, integers and bulk strings are the same
}

func appendAll(b []byte, elems []Value) []byte {
	for _, e := range elems {
		b = AppendRESP3(b, e)
	}
	return b
}

func appendCount(b []byte, mark byte, n int) []byte {
	return append(strconv.AppendInt(append(b, mark), int64(n), 10), '\r', '\n')
}

func appendLine(b []byte, mark byte, text string) []byte {
	return append(append(append(b, mark), text...), '\r', '\n')
}
