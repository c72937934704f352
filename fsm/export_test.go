package fsm

import (
	"bytes"
	"crypto/sha256"
	"io"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// VerifyBackupWith is VerifyBackup with a table of commands, of which a test needs one only.
func VerifyBackupWith(r io.Reader, table *command.Table) (Backup, error) {
	b, _, err := verifyBackup(r, table, 0, nil)
	return b, err
}

// TimelessDigest is the digest of the state but for its times.
func (f *Frozen) TimelessDigest() string {
	f.s.clock, f.s.wall = 0, 0
	return f.Digest()
}

// ContentDigest is the digest of a backup with the bytes of its payloads.
func (f *Frozen) ContentDigest() string { return f.contentDigest(false) }

// LendNoRoom has the machine read every batch into new memory.
func (m *Machine) LendNoRoom() { m.state.applier.room.busy = true }

// WithSum is a file whose last bytes are the sum of those before them.
func WithSum(file []byte) []byte {
	body := file[:max(len(file)-sha256.Size, 0)]
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

// WithLevel is a backup whose header says another feature level.
func WithLevel(file []byte, level uint64) []byte {
	in := bytes.NewReader(file[len(backupMagic):])
	var buf []byte
	_, data, err := readFrame(in, &buf)
	if err != nil {
		panic(err)
	}
	r := wire.NewReader(wire.NewReader(data).Bytes())
	format, sections := r.Uvarint(), r.Uvarint()
	r.Uvarint()
	rest := r.Fixed(r.Len())
	out := bytes.NewBufferString(backupMagic)
	if err := writeFrame(out, sectionHeader, func(c *wire.Codec) {
		c.Uvarint(&format)
		c.Uvarint(&sections)
		c.Uvarint(&level)
		c.Fixed(rest)
	}); err != nil {
		panic(err)
	}
	return WithSum(append(out.Bytes(), file[len(file)-in.Len():]...))
}
