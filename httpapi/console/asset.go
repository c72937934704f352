package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"html"
	"io"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/trireme-dev/trireme/console/dist"
)

// policy lets a page load only what this node serves; the page itself contains no script and no style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"base-uri 'self'; form-action 'self'; frame-ancestors 'none'"

// asset is a built file, packed or plain.
type asset struct {
	kind   string
	etag   string
	packed []byte
	plain  []byte
	// named: the name of the file changes with what is in it.
	named bool
}

// kinds are the types of built files, by how their names end.
var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8", ".woff2": "font/woff2",
}

// hashed is the end of a name that esbuild has made from what is in the file.
var hashed = regexp.MustCompile(`-[A-Z0-9]{8}\.\w+$`)

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
	for _, file := range dist.Names() {
		name, packed := strings.CutSuffix(file, ".gz")
		kind, is := kinds[path.Ext(name)]
		if !is {
			continue // the page, and the package itself
		}
		b, _ := dist.Read(file)
		one := &asset{kind: kind, etag: etagOf(b), plain: b, named: hashed.MatchString(name)}
		if packed {
			one.packed, one.plain = b, nil
		}
		all[name] = one
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
	if a == nil && kinds[path.Ext(name)] != "" && !strings.Contains(name, "/") {
		// A page of another version asks for a file of its own.
		refuse(w, http.StatusNotFound, "there is no such file in this version of the console")
		return
	}
	if a == nil {
		a = c.page
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Frame-Options", "DENY")
	}
	h.Set("Content-Type", a.kind)
	h.Set("Cache-Control", "no-cache")
	if a.named {
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	}
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
