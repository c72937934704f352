package hll

// place is the byte that register i begins in, and the bit of it.
func place(i int) (at int, shift uint) {
	return headerSize + i*width/8, uint(i * width % 8)
}

// register is register i of a dense sketch. Registers may lie across two bytes, the
// lower bits in the first.
func (s *Sketch) register(i int) byte {
	at, shift := place(i)
	v := uint(s.at(at))
	if shift > 8-width {
		v |= uint(s.at(at+1)) << 8
	}
	return byte(v>>shift) & (1<<width - 1)
}

func (s *Sketch) raiseDense(i int, rank byte) bool {
	if s.register(i) >= rank {
		return false
	}
	s.own()
	setDense(s.bytes, i, rank)
	return true
}

func setDense(b []byte, i int, rank byte) {
	const mask = 1<<width - 1
	at, shift := place(i)
	b[at] = b[at]&^byte(mask<<shift) | rank<<shift
	if shift > 8-width {
		b[at+1] = b[at+1]&^byte(mask>>(8-shift)) | rank>>(8-shift)
	}
}

// ToDense packs the registers of a sparse sketch and reports whether it was one. The
// header stays, but for the encoding.
func (s *Sketch) ToDense() (was bool, err error) {
	if s.Dense() {
		return false, nil
	}
	b := make([]byte, denseSize)
	for i := range headerSize {
		b[i] = s.at(i)
	}
	b[encodingAt] = dense
	if err := s.runs(func(from, to int, rank byte) {
		for i := from; i < to && rank > 0; i++ {
			setDense(b, i, rank)
		}
	}); err != nil {
		return false, err
	}
	s.bytes = b
	return true, nil
}

// All are the registers as they are.
func (s *Sketch) All() (r Registers, err error) {
	err = r.Merge(s)
	return r, err
}
