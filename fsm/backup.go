package fsm

import (
	"errors"
	"fmt"

	"trireme/fsm/env"
	"trireme/fsm/wire"
)

// A backup is a file of its own around the sections of a snapshot:
//
//	magic     16 bytes
//	header    one frame, as in a snapshot, with a BackupHeader
//	pieces    each a length of 4 bytes and so many bytes; one of length 0 is the last. Together they are the
//	          sections of the state, compressed
//	trailer   one frame with the SHA-256 of the sections before they were compressed, which is the state's digest
//	sum       SHA-256 of everything before it
//
// Nothing follows the sum. So a file that was cut short anywhere, or of which any bit is another one, is noticed, by
// those who don't look inside as well: see docs/design/backup.md.
const (
	backupMagic  = "TRIREME BACKUP\r\n" // what text modes of transfers would change
	backupFormat = 1
	backupPiece  = 256 << 10
)

// The reasons for which a backup can't be read.
var (
	// ErrBackup says that a backup is damaged, cut short, or no backup.
	ErrBackup = errors.New("fsm: backup is damaged, or is none")
	// ErrBackupNewer says that a backup is whole as far as it was read, but made by a version that knows more than
	// this one.
	ErrBackupNewer = errors.New("fsm: backup is of a newer version")
)

// BackupHeader says what a backup is of.
type BackupHeader struct {
	// Version is that of the binary that made it.
	Version string
	// ClusterID names the cluster; Index and Term are the last entry of its log that is in the state.
	ClusterID   string
	Index, Term uint64
	// Clock is the state's cluster time in unix milliseconds.
	Clock int64
	// Level is the feature level of the state.
	Level env.Level
}

// Encode writes the fields, behind the formats of the file and of the sections.
func (h *BackupHeader) Encode(w *wire.Writer) {
	w.Uvarint(backupFormat)
	w.Uvarint(snapshotFormat)
	w.Uvarint(uint64(h.Level))
	w.String(h.Version)
	w.String(h.ClusterID)
	w.Uvarint(h.Index)
	w.Uvarint(h.Term)
	w.Varint(h.Clock)
}

// decode reads what Encode wrote, if this version can read what follows.
func (h *BackupHeader) decode(r *wire.Reader) error {
	format, sections, level := r.Uvarint(), r.Uvarint(), r.Uvarint()
	switch {
	case r.Err() != nil:
		return fmt.Errorf("%w: header: %w", ErrBackup, r.Err())
	case format != backupFormat || sections != snapshotFormat:
		return fmt.Errorf("%w: format %d.%d, this one reads %d.%d", ErrBackupNewer, format, sections, backupFormat, snapshotFormat)
	case level > uint64(MaxLevel):
		return fmt.Errorf("%w: feature level %d, this one knows levels up to %d", ErrBackupNewer, level, MaxLevel)
	}
	h.Level, h.Version, h.ClusterID = env.Level(level), r.String(), r.String()
	h.Index, h.Term, h.Clock = r.Uvarint(), r.Uvarint(), r.Varint()
	if err := r.Done(); err != nil {
		return fmt.Errorf("%w: header: %w", ErrBackup, err)
	}
	return nil
}

// Backup is what is known of a backup after it was read, or written.
type Backup struct {
	BackupHeader
	// Digest is that of the state, in hexadecimal; see Frozen.Digest. Sum is the SHA-256 of the file but for its last
	// 32 bytes, which are this sum.
	Digest, Sum string
	// Bytes is the size of the file.
	Bytes int64
}
