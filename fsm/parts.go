package fsm

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// Part is a part of a database with the digest of what a restore keeps of it. A restore changes some of a state: numbers of
// credentials, attempts that were under way, what is the cluster's own. None of that is in a digest, so the parts of a backup
// and those of a cluster that has just restored it are equal.
type Part struct {
	// Database is its name, Name that of the part: keys, functions, search indexes, messages or workflow runs.
	Database, Name string
	// Records counts what the digest is made of.
	Records int
	// Digest is a SHA-256 in hexadecimal.
	Digest string
}

// Parts are those of all databases, in the order of the databases' names. Of messages they have those that are still to be
// delivered, of runs those that are active.
func (f *Frozen) Parts() (all []Part) {
	for d := f.s.first(nil); d != nil; d = f.s.after(d, nil) {
		all = append(all, d.part("keys", d.keys.Save), d.part("functions", d.scripts.Save))
		all = append(all, d.part("search indexes", func(emit func([]byte) error) error {
			if !d.search.Used() {
				return nil
			}
			var w wire.Writer
			w.PutRecord(d.search)
			return emit(w.B)
		}))
		all = append(all, d.part("messages", d.queue(f.s.blank).SaveLasting), d.part("workflow runs", d.runs(f.s.blank).SaveLasting))
	}
	return all
}

// nothing emits no records.
func nothing(func([]byte) error) error { return nil }

// part digests records with their lengths.
func (d *database) part(name string, save func(emit func([]byte) error) error) Part {
	h, n := sha256.New(), 0
	if err := save(func(record []byte) error {
		n++
		var head wire.Writer
		head.Uvarint(uint64(len(record)))
		h.Write(head.B)
		_, err := h.Write(record)
		return err
	}); err != nil {
		panic("fsm: a hash refused to be written: " + err.Error())
	}
	return Part{Database: d.name, Name: name, Records: n, Digest: hex.EncodeToString(h.Sum(nil))}
}

// InspectBackup is VerifyBackup of a backup that is one file, and returns its parts too.
func InspectBackup(r io.Reader, room int64) (Backup, Contents, []Part, error) {
	b, s, err := verifyBackup(r, command.NewTable(), room, nil)
	if err != nil {
		return b, Contents{}, nil, err
	}
	return b, s.contents(), (&Frozen{s: s}).Parts(), nil
}

// Contents says how much there is in the state.
func (f *Frozen) Contents() Contents { return f.s.contents() }
