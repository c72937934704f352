package reply

import "strconv"

// AppendRESP2 writes v as RESP2, the older wire form of the Redis protocol.
func AppendRESP2(b []byte, v Value) []byte {
	switch v.kind {
	case KindNil:
		return append(b, "$-1\r\n"...)
	case KindNilArray:
		return append(b, "*-1\r\n"...)
	case KindStatus:
		return append(append(append(b, '+'), v.text...), '\r', '\n')
	case KindError:
		return append(append(append(b, '-'), v.text...), '\r', '\n')
	case KindInt, KindBool:
		return append(strconv.AppendInt(append(b, ':'), v.num, 10), '\r', '\n')
	case KindArray, KindMap, KindSet, KindPush, KindPairs:
		b = append(strconv.AppendInt(append(b, '*'), int64(len(v.elems)), 10), '\r', '\n')
		for _, e := range v.elems {
			b = AppendRESP2(b, e)
		}
		return b
	case KindKeyed, KindForms:
		return AppendRESP2(b, v.RESP2())
	default: // bulk, double, verbatim, big number
		b = append(strconv.AppendInt(append(b, '$'), int64(len(v.text)), 10), '\r', '\n')
		return append(append(b, v.text...), '\r', '\n')
	}
}
