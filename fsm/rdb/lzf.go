package rdb

// The limits of LZF: a copy reaches back that far and has at least and at most that many
// bytes, and a run of other bytes at most that many.
const (
	lzfReach    = 1 << 13
	lzfShortest = 3
	lzfLongest  = 264
	lzfRun      = 32
	lzfHashBits = 14
)

// lzfMaxSize returns the greatest length that n compressed bytes can expand to.
func lzfMaxSize(n int) uint64 { return uint64(n) * lzfLongest / lzfShortest }

// unLZF unpacks b to exactly size bytes, which the caller has held against lzfMaxSize.
func unLZF(b []byte, size int) ([]byte, error) {
	out := make([]byte, 0, size)
	for len(b) > 0 {
		head := int(b[0])
		b = b[1:]
		if head < lzfRun {
			if head+1 > len(b) || len(out)+head+1 > size {
				return nil, ErrFormat
			}
			out = append(out, b[:head+1]...)
			b = b[head+1:]
			continue
		}
		n := head >> 5
		if n == 7 && len(b) > 0 {
			n += int(b[0])
			b = b[1:]
		}
		if len(b) == 0 {
			return nil, ErrFormat
		}
		from := len(out) - (head&0x1F)<<8 - int(b[0]) - 1
		b = b[1:]
		if n += 2; from < 0 || len(out)+n > size {
			return nil, ErrFormat
		}
		for ; n > 0; n-- { // a copy may reach into what it copies
			out = append(out, out[from])
			from++
		}
	}
	if len(out) != size {
		return nil, ErrFormat
	}
	return out, nil
}

// lzf packs s, or returns nothing if that would not be shorter than most bytes.
func lzf(s string, most int) []byte {
	var seen [1 << lzfHashBits]int32 // where three bytes stood last, plus 1
	out := make([]byte, 0, most)
	start, i := 0, 0 // of the bytes that aren't written yet, and of those looked at
	for i+lzfShortest <= len(s) {
		at := lzfHash(s[i : i+lzfShortest])
		from := int(seen[at]) - 1
		seen[at] = int32(i + 1)
		if from < 0 || i-from > lzfReach || s[from:from+lzfShortest] != s[i:i+lzfShortest] {
			i++
			continue
		}
		n := lzfShortest
		for n < lzfLongest && i+n < len(s) && s[from+n] == s[i+n] {
			n++
		}
		out = lzfCopy(lzfLiteral(out, s[start:i]), i-from-1, n-2)
		i += n
		start = i
		if len(out) >= most {
			return nil
		}
	}
	if out = lzfLiteral(out, s[start:]); len(out) >= most {
		return nil
	}
	return out
}

func lzfHash(s string) uint32 {
	return (uint32(s[0])<<16 | uint32(s[1])<<8 | uint32(s[2])) * 2654435761 >> (32 - lzfHashBits)
}

// lzfLiteral writes bytes as they are, in runs.
func lzfLiteral(out []byte, s string) []byte {
	for len(s) > 0 {
		n := min(len(s), lzfRun)
		out = append(append(out, byte(n-1)), s[:n]...)
		s = s[n:]
	}
	return out
}

// lzfCopy writes a copy of n+2 bytes from back+1 bytes before.
func lzfCopy(out []byte, back, n int) []byte {
	if n < 7 {
		return append(out, byte(n<<5|back>>8), byte(back))
	}
	return append(out, byte(7<<5|back>>8), byte(n-7), byte(back))
}
