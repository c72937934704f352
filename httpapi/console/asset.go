package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/console/dist"
)

// policy lets a page load only what this node serves; the page itself contains no script and no style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'self'; form-action 'self'; frame-ancestors 'none'"

// asset is a built file, packed and plain.
type asset struct {
	kind   string
	etag   string
	packed []byte
	plain  []byte
}

// files are the built files that browsers load, by the name in the URL.
var files = map[string]string{
	"app.js": "text/javascript; charset=utf-8", "app.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml",
	"licences.txt": "text/plain; charset=utf-8",
}

var errNoConsole = errors.New("console: this build has none (build tag noconsole)")

// loadAssets reads the built files; the page is made for a base path, and says whether people
// can sign in at an identity provider.
func loadAssets(base string, signOn bool) (page *asset, all map[string]*asset, err error) {
	text, found := dist.Read("index.html")
	if !found {
		return nil, nil, errNoConsole
	}
	text = bytes.ReplaceAll(text, []byte("{{base}}"), []byte(html.EscapeString(base+"/")))
	text = bytes.ReplaceAll(text, []byte("{{sign-on}}"), strconv.AppendBool(nil, signOn))
	page = &asset{kind: "text/html; charset=utf-8", plain: text, etag: etagOf(text)}
	all = map[string]*asset{}
	for name, kind := range files { // unordered: into a map
		packed, found := dist.Read(name + ".gz")
		if !found {
			return nil, nil, fmt.Errorf("console: %s.gz was not built", name)
		}
		all[name] = &asset{kind: kind, packed: packed, etag: etagOf(packed)}
	}
	return page, all, nil
}

func etagOf(b []byte) string {
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:12]) + `"`
}

// serveAsset answers a built file, or the page for every other path: views are URLs.
func (c *Console) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	a := c.assets[name]
	h := w.Header()
	if a == nil {
		a = c.page
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
	}
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", a.etag)
	if r.Header.Get("If-None-Match") == a.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := a.plain
	if a.packed != nil {
		h.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = a.packed
		} else if body = unpack(a.packed); body == nil {
			refuse(w, http.StatusInternalServerError, "a file of the console is damaged")
			return
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // an error means that the browser has gone
	}
}

func unpack(b []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return nil
	}
	return text
}
