package wire

import "unsafe"

// Alias reads a length and that many bytes as a string that aliases the input, which must
// never be written again: an entry of the log, or bytes that were copied for it.
func (r *Reader) Alias() string {
	b := r.Bytes()
	if len(b) == 0 {
		return "" // which keeps nothing of what was read in memory
	}
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Texts appends a list of strings.
func (w *Writer) Texts(list []string) {
	w.Uvarint(uint64(len(list)))
	for _, s := range list {
		w.String(s)
	}
}

// Texts reads a list of strings, nil if it is empty; they alias the input as those of
// Alias do.
func (r *Reader) Texts() []string {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.Alias()
	}
	return list
}
