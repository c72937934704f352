package fsm

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/trireme-dev/trireme/fsm/command"
	"github.com/trireme-dev/trireme/fsm/payload"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// VerifyBackup reads a backup as a restore does and checks everything: the frames, the sections, the sums, and that
// the state that they give has the digest that it was written with. It takes the memory of the state. room limits the
// sections before they were compressed, in bytes (0 = unlimited). find finds the payloads that the backup names; nil refuses one
// that names some. The errors are ErrBackup, ErrBackupNewer, ErrBackupLarge, ErrBackupNamed, and those of r and find.
func VerifyBackup(r io.Reader, room int64, find Finder) (Backup, Contents, error) {
	b, s, err := verifyBackup(r, command.NewTable(), room, find)
	if err != nil {
		return b, Contents{}, err
	}
	return b, s.contents(), nil
}

// verifyBackup is readBackup that also compares the digest of the state that was read.
func verifyBackup(r io.Reader, table *command.Table, room int64, find Finder) (Backup, *State, error) {
	b, s, err := readBackup(r, table, room, nil, find)
	if err != nil {
		return b, nil, err
	}
	if digest := (&Frozen{s: s}).contentDigest(b.Named); digest != b.Digest {
		return b, nil, fmt.Errorf("%w: the state that was read has the digest %s, not %s", ErrBackup, digest, b.Digest)
	}
	return b, s, nil
}

// ExpandBackup verifies a backup that names its payloads, which find finds, and writes the one that has their bytes instead.
// The errors are those of VerifyBackup, and w's.
func ExpandBackup(w io.Writer, r io.Reader, room int64, find Finder) (Backup, error) {
	b, s, err := verifyBackup(r, command.NewTable(), room, find)
	if err != nil {
		return b, err
	}
	return (&Frozen{s: s, index: b.Index, term: b.Term}).Backup(w, b.Version)
}

// CheckBackup reads a backup and looks at its form and its sum, not at what is in it: that takes no memory. The errors
// are those of VerifyBackup.
func CheckBackup(r io.Reader) (Backup, error) {
	f, err := openBackup(r)
	if err != nil {
		return f.Backup, err
	}
	if _, err := io.Copy(io.Discard, f.pieces); err != nil {
		return f.Backup, f.damaged(err)
	}
	return f.Backup, f.close()
}

// readBackup reads a backup into a state of its own.
func readBackup(r io.Reader, table *command.Table, room int64, keeper payload.Keeper, find Finder) (Backup, *State, error) {
	f, err := openBackup(r)
	if err != nil {
		return f.Backup, nil, err
	}
	if f.Named && find == nil {
		return f.Backup, nil, ErrBackupNamed
	}
	s, digest, err := f.load(table, room, keeper, find)
	if err == nil {
		err = f.close()
	}
	switch {
	case err != nil:
		return f.Backup, nil, f.damaged(err)
	case digest != f.Digest:
		return f.Backup, nil, fmt.Errorf("%w: the sections have the digest %s, not %s", ErrBackup, digest, f.Digest)
	case s.level != f.Level || s.clusterID != f.ClusterID || s.clock != f.Clock:
		return f.Backup, nil, fmt.Errorf("%w: the header is of another state", ErrBackup)
	}
	return f.Backup, s, nil
}

// backupFile is a backup that is being read.
type backupFile struct {
	Backup
	in     *summed
	pieces *pieceReader
}

// openBackup reads up to the sections.
func openBackup(r io.Reader) (*backupFile, error) {
	f := &backupFile{in: &summed{r: bufio.NewReaderSize(r, backupPiece), sum: sha256.New()}}
	magic := make([]byte, len(backupMagic))
	if _, err := io.ReadFull(f.in, magic); err != nil || string(magic) != backupMagic {
		return f, fmt.Errorf("%w: it doesn't begin as one", ErrBackup)
	}
	record, err := f.record(sectionHeader)
	if err != nil {
		return f, f.damaged(err)
	}
	f.pieces = &pieceReader{r: f.in}
	return f, f.decode(record)
}

// damaged is an error of reading as one of backups.
func (f *backupFile) damaged(err error) error {
	if errors.Is(err, ErrBackup) || errors.Is(err, ErrBackupNewer) || errors.Is(err, ErrFormerLevel) || errors.Is(err, ErrBackupLarge) {
		return err
	}
	return fmt.Errorf("%w: at byte %d: %w", ErrBackup, f.in.n, err)
}

// record reads a frame of one record.
func (f *backupFile) record(want byte) ([]byte, error) {
	var buf []byte
	section, data, err := readFrame(f.in, &buf)
	if err != nil {
		return nil, err
	}
	r := wire.NewReader(data)
	record := r.Bytes()
	if section != want || r.Done() != nil {
		return nil, fmt.Errorf("%w: section %d", errSection, section)
	}
	return record, nil
}

// load reads the sections, and returns the state and their digest.
func (f *backupFile) load(table *command.Table, room int64, keeper payload.Keeper, find Finder) (*State, string, error) {
	unpacked, err := newUnpacker(f.pieces)
	if err != nil {
		return nil, "", err
	}
	defer unpacked.Close()
	h := sha256.New()
	l := &loading{s: newState(table, keeper), headless: true}
	if f.Named {
		l.refer(find)
	}
	var sections io.Reader = unpacked
	if room > 0 {
		sections = &roomReader{r: unpacked, room: room, left: room}
	}
	if err := l.all(io.TeeReader(sections, h)); err != nil {
		return nil, "", err
	}
	return l.s, hex.EncodeToString(h.Sum(nil)), nil
}

// roomReader fails with ErrBackupLarge where more than room bytes come.
type roomReader struct {
	r          io.Reader
	room, left int64
}

// Read returns the next bytes.
func (r *roomReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	if r.left -= int64(n); r.left < 0 {
		return 0, fmt.Errorf("%w: it unpacks to more than %d bytes", ErrBackupLarge, r.room)
	}
	return n, err
}

// close reads what follows the sections.
func (f *backupFile) close() error {
	if n, err := f.pieces.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: data behind the sections (%w)", ErrBackup, cut(err))
	}
	digest, err := f.record(sectionEnd)
	if err != nil {
		return f.damaged(err)
	}
	want := f.in.sum.Sum(nil)
	sum := make([]byte, len(want))
	if _, err := io.ReadFull(f.in, sum); err != nil {
		return f.damaged(cut(err))
	}
	if !bytes.Equal(sum, want) || len(digest) != sha256.Size {
		return fmt.Errorf("%w: %w of the whole file", ErrBackup, errSum)
	}
	if n, err := io.ReadFull(f.in, sum[:1]); n != 0 || !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: data behind the end", ErrBackup)
	}
	f.Digest, f.Sum, f.Bytes = hex.EncodeToString(digest), hex.EncodeToString(want), f.in.n
	return nil
}

// summed counts and sums what is read through it.
type summed struct {
	r   io.Reader
	sum hash.Hash
	n   int64
}

// Read reads on.
func (s *summed) Read(b []byte) (int, error) {
	n, err := s.r.Read(b)
	s.sum.Write(b[:n])
	s.n += int64(n)
	return n, err
}
