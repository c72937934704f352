package fsm

import (
	"fmt"
	"io"

	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// leastReference is the least size of a reference in a snapshot, in bytes.
const leastReference = 1 + len(payload.Digest{})

func decodeReferences(frame []byte) ([]payload.Reference, error) {
	in := wire.NewReader(frame)
	r := wire.NewReader(in.Bytes())
	list := make([]payload.Reference, 0, r.Len()/leastReference)
	for r.Len() > 0 {
		v := payload.Reference{Len: int(r.Uvarint())}
		copy(v.Digest[:], r.Fixed(len(v.Digest)))
		list = append(list, v)
	}
	if err := r.Done(); err != nil {
		return nil, err
	}
	return list, in.Done()
}

// SnapshotReferences reads a snapshot without using it and calls each with the payloads that it names, those of a frame at a
// time. It returns the first error of each, and otherwise reads to the end.
func SnapshotReferences(r io.Reader, each func([]payload.Reference) error) error {
	magic := make([]byte, len(snapshotMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != snapshotMagic {
		return fmt.Errorf("%w: no magic number", ErrSnapshot)
	}
	var frame []byte
	for n := 0; ; n++ {
		section, data, err := readFrame(r, &frame)
		if err == nil && section == sectionReferences {
			var list []payload.Reference
			if list, err = decodeReferences(data); err == nil {
				if err := each(list); err != nil {
					return err
				}
			}
		}
		switch {
		case err != nil:
			return fmt.Errorf("%w: frame %d: %w", ErrSnapshot, n, err)
		case section == sectionEnd:
			return nil
		}
	}
}
