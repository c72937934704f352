package doctor

import (
	"fmt"
	"time"
)

// History says that a history of a database, of events or of runs, gives way to its bytes long before its retention is over.
func History(database, of string, reach, retention time.Duration, maxBytes int64) Finding {
	size, age := "--event-bytes", "--event-retention"
	if of == "runs" {
		size, age = "--run-bytes", "--run-retention"
	}
	return found(checkHistory, database, Warning, fmt.Sprintf("raise %s if the disks have room, or lower %s to what is needed", size, age),
		"its %s go back %s of %s: they take the %d MiB that %s gives them", of, span(reach), span(retention), maxBytes>>20, size)
}

// span is a duration as the nearest unit tells it.
func span(d time.Duration) string {
	if days := d.Hours() / 24; days >= 2 {
		return fmt.Sprintf("%.0f days", days)
	}
	return d.Round(time.Minute).String()
}
