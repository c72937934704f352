package archive

import (
	"encoding/hex"
	"strings"
	"time"
)

// Every file of an archive has a name of these parts: the prefix, the id of the cluster, a time to the second, and a suffix. Packs and
// lists have one more part in front of the suffix.
const (
	namePrefix      = "trireme-"
	nameSuffix      = ".backup"
	manifestSuffix  = ".manifest"
	packSuffix      = ".pack"
	condemnedSuffix = ".condemned"
	sealedSuffix    = ".age"
	nameTime        = "20060102T150405Z"
)

// NameOf is the name of a backup in one file, by which backups of one cluster sort as they were taken.
func NameOf(cluster string, at time.Time, sealed bool) string {
	return stem(cluster, at) + nameSuffix + sealedIf(sealed)
}

// manifestName is the name of an incremental backup.
func manifestName(cluster string, at time.Time, sealed bool) string {
	return stem(cluster, at) + manifestSuffix + sealedIf(sealed)
}

// packNameOf is the name of a pack that a backup has written. digest is that of the file, in hexadecimal.
func packNameOf(cluster string, at time.Time, digest string, sealed bool) string {
	return stem(cluster, at) + "-" + digest + packSuffix + sealedIf(sealed)
}

func stem(cluster string, at time.Time) string {
	return namePrefix + cluster + "-" + at.UTC().Format(nameTime)
}

func sealedIf(sealed bool) string {
	if sealed {
		return sealedSuffix
	}
	return ""
}

// ParseName reads what the name of a backup says; ok is false for files that are no backups.
func ParseName(name string) (b Backup, ok bool) {
	b.Name = name
	rest, sealed := strings.CutSuffix(name, sealedSuffix)
	rest, single := strings.CutSuffix(rest, nameSuffix)
	if !single {
		if rest, b.Packed = strings.CutSuffix(rest, manifestSuffix); !b.Packed {
			return b, false
		}
	}
	b.Sealed = sealed
	b.Cluster, b.Time, ok = parseStem(rest)
	return b, ok
}

// parseStem reads the cluster and the time.
func parseStem(rest string) (cluster string, at time.Time, ok bool) {
	rest, isOurs := strings.CutPrefix(rest, namePrefix)
	i := strings.LastIndexByte(rest, '-')
	if !isOurs || i < 1 {
		return "", at, false
	}
	at, err := time.Parse(nameTime, rest[i+1:])
	return rest[:i], at, err == nil
}

// packName holds the parts of a pack's name.
type packName struct {
	name, cluster, digest string
	at                    time.Time
	sealed                bool
}

// parsePack reads the name of a pack; ok is false for other files.
func parsePack(name string) (p packName, ok bool) {
	p.name = name
	rest, sealed := strings.CutSuffix(name, sealedSuffix)
	p.sealed = sealed
	rest, ok = strings.CutSuffix(rest, packSuffix)
	i := strings.LastIndexByte(rest, '-')
	if !ok || i < 0 {
		return p, false
	}
	p.digest = rest[i+1:]
	if b, err := hex.DecodeString(p.digest); err != nil || len(b) != 32 {
		return p, false
	}
	p.cluster, p.at, ok = parseStem(rest[:i])
	return p, ok
}
