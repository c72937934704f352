package rdb

import "fmt"

// DumpFunctions is the payload of FUNCTION RESTORE for libraries of these texts.
func DumpFunctions(texts []string) []byte {
	w := writer{}
	for _, t := range texts {
		w.b = append(w.b, opFunction)
		w.text(t)
	}
	return frame(w.b, plainVersion)
}

// Functions are the texts of the libraries of a payload. The errors are ErrPayload and
// ErrFormat.
func Functions(payload []byte) (texts []string, err error) {
	b, err := Open(payload)
	if err != nil {
		return nil, err
	}
	r := &reader{b: b, room: maxFunctions}
	for len(r.b) > 0 {
		if r.b[0] != opFunction {
			return nil, fmt.Errorf("%w: no library", ErrFormat)
		}
		r.b = r.b[1:]
		t, err := r.text()
		if err != nil {
			return nil, err
		}
		texts = append(texts, t)
	}
	return texts, nil
}

// maxFunctions bounds the texts of one payload in bytes.
const maxFunctions = 64 << 20
