package archive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// The errors of archives.
var (
	// ErrLocation says that a text names no archive.
	ErrLocation = errors.New("archive: not a location of backups")
	// ErrNotThere says that an archive has no backup of that name, or none at all.
	ErrNotThere = errors.New("archive: no such backup")
)

// An Archive stores backups in a folder or a bucket.
type Archive interface {
	// Put keeps what r gives, under a name that appears when all of it is kept, and replaces nothing half.
	Put(ctx context.Context, name string, r io.Reader) error
	// Names returns the names of all files, backups or not, in no order.
	Names(ctx context.Context) ([]string, error)
	// Get opens a backup. The error is ErrNotThere if there is none of that name.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// Remove removes a backup.
	Remove(ctx context.Context, name string) error
	// String is the location without credentials.
	String() string
}

// Open is the archive at a location: s3://BUCKET/PREFIX, or the path of a folder. It sends no request yet. The error is
// ErrLocation.
func Open(location string) (Archive, error) {
	switch {
	case strings.HasPrefix(location, bucketScheme):
		return openBucket(location)
	case location == "" || strings.Contains(location, "://"):
		return nil, fmt.Errorf("%w: %q is neither a folder nor %sBUCKET/PREFIX", ErrLocation, location, bucketScheme)
	}
	return folder(location), nil
}

// Backup describes a backup in an archive, by its name.
type Backup struct {
	// Name is the name of the file in the archive.
	Name string
	// Cluster is the id of the cluster.
	Cluster string
	// Time is the time of the backup, to the second.
	Time time.Time
	// Sealed reports whether it is encrypted.
	Sealed bool
	// Packed reports whether it is incremental: its large payloads are in packs.
	Packed bool
}

// List are the backups in an archive, of one cluster or of all, the newest first.
func List(ctx context.Context, a Archive, cluster string) ([]Backup, error) {
	names, err := a.Names(ctx)
	if err != nil {
		return nil, fmt.Errorf("archive: list %s: %w", a, err)
	}
	var all []Backup
	for _, name := range names {
		if b, ok := ParseName(name); ok && (cluster == "" || b.Cluster == cluster) {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b Backup) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(a.Name, b.Name)) })
	return all, nil
}
