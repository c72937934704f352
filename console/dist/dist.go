//go:build !noconsole

package dist

import "embed"

//go:embed index.html *.gz *.woff2
var files embed.FS

// Names returns the names of the built files, in order.
func Names() (names []string) {
	list, _ := files.ReadDir(".") // it is there
	for _, f := range list {
		names = append(names, f.Name())
	}
	return names
}

// Read returns a built file by its name, such as "app.js.gz"; false if there is none.
func Read(name string) ([]byte, bool) {
	b, err := files.ReadFile(name)
	return b, err == nil
}
