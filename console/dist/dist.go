//go:build !noconsole

package dist

import "embed"

//go:embed index.html *.gz
var files embed.FS

// Read returns a built file by its name, such as "app.js.gz"; false if there is none.
func Read(name string) ([]byte, bool) {
	b, err := files.ReadFile(name)
	return b, err == nil
}
