// Package archive stores backups in a folder or in an S3 bucket, encrypted with age if asked for. A Schedule makes
// them by themselves. An incremental backup is a manifest that names packs, which hold the large payloads; see
// docs/design/backup.md.
//
// Invariants: a backup has its name only when all of it is there, packs included, so whatever List names was written to its
// end; a backup is removed only after a newer one is kept, and only if its name says that it is of the same cluster; a pack
// that a backup names is never removed, nor one that a backup under way may name. Nothing here looks into a backup, and nothing here is part of the replicated state: which backups there are is read from the
// archive, so that a new leader continues where the last one stopped.
package archive
