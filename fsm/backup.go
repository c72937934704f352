package fsm

import (
	"errors"
	"fmt"

	"github.com/trireme-dev/trireme/fsm/env"
	"github.com/trireme-dev/trireme/fsm/wire"
)

// A backup is a file of its own around the sections of a snapshot:
//
//	magic     16 bytes
//	header    one frame, as in a snapshot, with a BackupHeader
//	pieces    each a length of 4 bytes and so many bytes; one of length 0 is the last. Together they are the
//	          sections of the state, compressed
//	trailer   one frame with the SHA-256 of the sections before they were compressed
//	sum       SHA-256 of everything before it
//
// The sections of a backup that is one file have the bytes of all payloads. Those of one that names them
// (BackupHeader.Named) are in the form of referringFormat; internal/archive keeps the payloads in other files.
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
	// ErrBackupLarge says that a backup unpacks to more than there is room for in memory.
	ErrBackupLarge = errors.New("fsm: backup is larger than the memory that is free")
	// ErrBackupNamed says that a backup names payloads that are in other files, which the reader was not given.
	ErrBackupNamed = errors.New("fsm: backup names payloads that are in other files: restore it from its folder or bucket")
	// ErrBackupNewer says that a backup is whole as far as it was read, but made by a version that knows more than
	// this one.
	ErrBackupNewer = errors.New("fsm: backup is of a newer version")
)

// BackupHeader says what a backup is of.
type BackupHeader struct {
	// Version is the version of the binary that made it.
	Version string
	// ClusterID names the cluster; Index and Term are the last entry of its log that is in the state.
	ClusterID   string
	Index, Term uint64
	// Clock is the state's cluster time in unix milliseconds.
	Clock int64
	// Level is the feature level of the state.
	Level env.Level
	// Named reports whether the file has the names of large payloads in the place of their bytes.
	Named bool
}

// Fields are those of the format, after the formats of the file and of the sections. A header of
// what this version can't read fails.
func (h *BackupHeader) Fields(c *wire.Codec) {
	format, sections := uint64(backupFormat), uint64(snapshotFormat)
	if h.Named {
		sections = referringFormat
	}
	c.Uvarint(&format)
	c.Uvarint(&sections)
	wire.Uint(c, &h.Level)
	if c.Reading() && c.Reader().Err() == nil {
		switch {
		case format != backupFormat || sections != snapshotFormat && sections != referringFormat:
			c.Fail(fmt.Errorf("%w: format %d.%d, this one reads %d.%d", ErrBackupNewer, format, sections, backupFormat, referringFormat))
		case h.Level > MaxLevel:
			c.Fail(fmt.Errorf("%w: feature level %d, this one knows levels up to %d", ErrBackupNewer, h.Level, MaxLevel))
		case h.Level < env.Base:
			c.Fail(FormerLevel(h.Level))
		}
	}
	h.Named = sections == referringFormat
	c.String(&h.Version)
	c.String(&h.ClusterID)
	c.Uvarint(&h.Index)
	c.Uvarint(&h.Term)
	c.Varint(&h.Clock)
}

// decode reads the header, if this version can read what follows.
func (h *BackupHeader) decode(b []byte) error {
	err := wire.Unmarshal(b, h)
	if err != nil && !errors.Is(err, ErrBackupNewer) && !errors.Is(err, ErrFormerLevel) {
		return fmt.Errorf("%w: header: %w", ErrBackup, err)
	}
	return err
}

// Backup describes a backup that was read or written to its end.
type Backup struct {
	BackupHeader
	// Digest is the digest of the state, in hexadecimal; see Frozen.Digest. Sum is the SHA-256 of the file but for its last
	// 32 bytes, which are this sum.
	Digest, Sum string
	// Bytes is the size of the file.
	Bytes int64
}
