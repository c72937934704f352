package fsm

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Backup writes the state as a backup; version is that of this binary. A backup that is being restored at this moment is
// no part of it. An error is the writer's.
func (f *Frozen) Backup(w io.Writer, version string) (Backup, error) {
	return f.backup(w, version, false)
}

// BackupNames writes the state as a backup that names its large payloads: those that Payloads calls with.
func (f *Frozen) BackupNames(w io.Writer, version string) (Backup, error) {
	return f.backup(w, version, true)
}

// Payloads calls each with every large payload of the state, with some more than once. The order is the same each time. It
// returns the first error of each.
func (f *Frozen) Payloads(each func(payload.Kept) error) error {
	refs := &wire.References{All: true}
	emit := func([]byte) error {
		for _, k := range refs.Take(nil) {
			if err := each(k); err != nil {
				return err
			}
		}
		return nil
	}
	for d := f.s.first(nil); d != nil; d = f.s.after(d, nil) {
		if f.s.level >= env.Files {
			if err := d.keys.SaveReferences(emit, refs); err != nil {
				return err
			}
		}
		if err := d.queue(f.s.blank).SaveReferences(emit, refs); err != nil {
			return err
		}
		if err := d.runs(f.s.blank).SaveReferences(emit, refs); err != nil {
			return err
		}
	}
	return nil
}

func (f *Frozen) backup(w io.Writer, version string, named bool) (Backup, error) {
	s := *f.s
	s.stage.incoming = nil
	s.ended, s.fragments = nil, fragments{}
	f = &Frozen{s: &s, index: f.index, term: f.term}
	b := Backup{BackupHeader: BackupHeader{
		Version: version, ClusterID: f.s.clusterID, Index: f.index, Term: f.term, Clock: f.s.clock, Level: f.s.level, Named: named,
	}}
	whole, counted := sha256.New(), &counter{w: w}
	out := io.MultiWriter(counted, whole)
	if _, err := io.WriteString(out, backupMagic); err != nil {
		return b, err
	}
	if err := writeFrame(out, sectionHeader, b.Fields); err != nil {
		return b, err
	}
	digest, err := f.writePacked(out, named)
	if err != nil {
		return b, err
	}
	if err := writeFrame(out, sectionEnd, func(c *wire.Codec) { c.Fixed(digest) }); err != nil {
		return b, err
	}
	sum := whole.Sum(nil)
	if _, err := counted.Write(sum); err != nil {
		return b, err
	}
	b.Digest, b.Sum, b.Bytes = hex.EncodeToString(digest), hex.EncodeToString(sum), counted.n
	return b, nil
}

// writePacked writes the sections compressed, in pieces, and returns their digest.
func (f *Frozen) writePacked(w io.Writer, named bool) (digest []byte, err error) {
	pieces := newPieceWriter(w)
	packer, err := newPacker(pieces)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	if err := f.writeSections(io.MultiWriter(packer, h), named); err != nil {
		return nil, err
	}
	if err := packer.Close(); err != nil {
		return nil, err
	}
	return h.Sum(nil), pieces.end()
}

// writeFrame writes one frame of one record.
func writeFrame(w io.Writer, section byte, fields func(*wire.Codec)) error {
	f := newFrames(w)
	if err := f.fields(section, fields); err != nil {
		return err
	}
	return f.flush()
}

// counter counts what is written through it.
type counter struct {
	w io.Writer
	n int64
}

// Write writes on.
func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
