package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"

	"filippo.io/age"
)

// A manifest is the file of an incremental backup:
//
//	magic   16 bytes
//	format  4 bytes
//	count   4 bytes, then the name of each pack that the backup needs, behind its length of 2 bytes
//	sum     CRC-32C of everything before it
//	body    the backup, which names its payloads, encrypted if it is to be
//	sum     SHA-256 of everything before it
//
// So which packs a backup needs can be read without its key.
const (
	manifestMagic  = "TRIREME MANIFEST"
	manifestFormat = 1
	manifestFixed  = len(manifestMagic) + 4 + 4
)

// writeManifest writes a manifest whose body write writes.
func writeManifest(w io.Writer, packs []string, to []age.Recipient, write func(io.Writer) error) error {
	head := binary.LittleEndian.AppendUint32([]byte(manifestMagic), manifestFormat)
	head = binary.LittleEndian.AppendUint32(head, uint32(len(packs)))
	for _, name := range packs {
		head = binary.LittleEndian.AppendUint16(head, uint16(len(name)))
		head = append(head, name...)
	}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	if _, err := out.Write(binary.LittleEndian.AppendUint32(head, crc32.Checksum(head, castagnoli))); err != nil {
		return err
	}
	if err := seal(out, to, write); err != nil {
		return err
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}

// readManifestHead reads which packs a backup needs. The errors are ErrDamaged, ErrNewer and those of r.
func readManifestHead(r io.Reader) (packs []string, err error) {
	head := make([]byte, manifestFixed)
	if err := readAll(r, head); err != nil {
		return nil, err
	}
	if err := checkStart(head, manifestMagic, manifestFormat); err != nil {
		return nil, err
	}
	next := func(n int) ([]byte, error) {
		head = append(head, make([]byte, n)...)
		b := head[len(head)-n:]
		return b, readAll(r, b)
	}
	n := binary.LittleEndian.Uint32(head[manifestFixed-4:])
	for range n {
		b, err := next(2)
		if err == nil {
			b, err = next(int(binary.LittleEndian.Uint16(b)))
		}
		if err != nil {
			return nil, err
		}
		packs = append(packs, string(b))
	}
	var sum [4]byte
	if err := readAll(r, sum[:]); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(sum[:]) != crc32.Checksum(head, castagnoli) {
		return nil, fmt.Errorf("%w: its list of packs", ErrDamaged)
	}
	return packs, nil
}

// manifestReader reads a manifest: the head when it is opened, then the body as it is stored. Its end is io.EOF only if the file
// has its digest.
type manifestReader struct {
	packs []string
	in    *bufio.Reader
	sum   hash.Hash
}

// openManifest reads the head.
func openManifest(r io.Reader) (*manifestReader, error) {
	mr := &manifestReader{in: bufio.NewReaderSize(r, 64<<10), sum: sha256.New()}
	var err error
	mr.packs, err = readManifestHead(io.TeeReader(mr.in, mr.sum))
	return mr, err
}

// Read returns the next bytes of the body, and keeps back what may be the digest.
func (mr *manifestReader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	got, err := mr.in.Peek(sha256.Size + 1)
	switch {
	case errors.Is(err, io.EOF) && bytes.Equal(got, mr.sum.Sum(nil)):
		return 0, io.EOF
	case errors.Is(err, io.EOF):
		return 0, fmt.Errorf("%w: it has another digest than it says", ErrDamaged)
	case err != nil:
		return 0, err
	}
	n, err := mr.in.Read(b[:min(len(b), mr.in.Buffered()-sha256.Size)])
	mr.sum.Write(b[:n])
	return n, err
}
