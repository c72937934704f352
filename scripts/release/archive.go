package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"time"
)

// A file is a member of an archive, with slashes in its name.
type file struct {
	name string
	mode int64
	body []byte
}

// archive is a compressed tar of files in a folder, the same for the same input.
func archive(folder string, files []file, when time.Time) ([]byte, error) {
	prefixed := make([]file, len(files))
	for i, f := range files {
		f.name = folder + "/" + f.name
		prefixed[i] = f
	}
	text, err := tarOf(prefixed, when)
	if err != nil {
		return nil, err
	}
	return compressed(text)
}

func compressed(text []byte) ([]byte, error) {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = z.Write(text)
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}

func tarOf(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range files {
		h := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.body)), ModTime: when, Format: tar.FormatPAX, Typeflag: tar.TypeReg}
		if f.name[len(f.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if f.name == "data/" {
			h.Uid, h.Gid = user, user
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// user owns the image's data folder and runs the process: an id without a name.
const user = 65532

// certificates are the root certificates that the image trusts for deliveries.
const certificates = "/etc/ssl/certs/ca-certificates.crt"

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *imagePlatform    `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type imagePlatform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

// image is an OCI archive of the image that deploy/docker/Dockerfile describes: the binary, the licences and the root certificates.
func image(binary []byte, texts []file, arch, version, commit string, when time.Time) ([]byte, error) {
	files := append([]file{{"data/", 0o700, nil}, {"trireme", 0o755, binary}}, texts...)
	if roots, err := os.ReadFile(certificates); err == nil {
		files = append([]file{{"etc/ssl/certs/ca-certificates.crt", 0o644, roots}}, files...)
	} else {
		fmt.Fprintln(os.Stderr, "release: the image has no root certificates: install ca-certificates")
	}
	layer, err := tarOf(files, when)
	if err != nil {
		return nil, err
	}
	packed, err := compressed(layer)
	if err != nil {
		return nil, err
	}
	labels := map[string]string{
		"org.opencontainers.image.title": "trireme", "org.opencontainers.image.version": version, "org.opencontainers.image.revision": commit,
		"org.opencontainers.image.licenses": "Apache-2.0", "org.opencontainers.image.source": "https://github.com/trireme-dev/trireme",
	}
	config, err := json.Marshal(map[string]any{
		"created": when.Format(time.RFC3339), "architecture": arch, "os": "linux",
		"config": map[string]any{
			"User": fmt.Sprintf("%d:%d", user, user), "Env": []string{"TRIREME_DATA_DIR=/data", "TRIREME_LOG_FORMAT=json"},
			"Entrypoint": []string{"/trireme"}, "Cmd": []string{"serve"}, "StopSignal": "SIGTERM", "Labels": labels,
			"Volumes":      map[string]any{"/data": map[string]any{}},
			"Healthcheck":  map[string]any{"Test": []string{"CMD", "/trireme", "health"}, "Interval": 10 * time.Second, "Timeout": 6 * time.Second, "StartPeriod": time.Minute}, // Docker's addition to OCI
			"ExposedPorts": map[string]any{"8080/tcp": map[string]any{}, "6379/tcp": map[string]any{}, "7080/tcp": map[string]any{}, "7090/tcp": map[string]any{}, "7090/udp": map[string]any{}},
		},
		"rootfs":  map[string]any{"type": "layers", "diff_ids": []string{digest(layer)}},
		"history": []any{map[string]any{"created": when.Format(time.RFC3339), "created_by": "scripts/release"}},
	})
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
		"config": descriptor{MediaType: "application/vnd.oci.image.config.v1+json", Digest: digest(config), Size: len(config)},
		"layers": []descriptor{{MediaType: "application/vnd.oci.image.layer.v1.tar+gzip", Digest: digest(packed), Size: len(packed)}},
	})
	if err != nil {
		return nil, err
	}
	index, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
		"manifests": []descriptor{{
			MediaType: "application/vnd.oci.image.manifest.v1+json", Digest: digest(manifest), Size: len(manifest),
			Platform: &imagePlatform{arch, "linux"}, Annotations: imageNames(version),
		}},
	})
	if err != nil {
		return nil, err
	}
	layout := []file{{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {"index.json", 0o644, index}}
	for _, blob := range [][]byte{manifest, config, packed} {
		layout = append(layout, file{"blobs/sha256/" + digest(blob)[len("sha256:"):], 0o644, blob})
	}
	return tarOf(layout, when)
}

var notInTags = regexp.MustCompile(`[^A-Za-z0-9_.-]`)

// imageNames are the names under which Podman and Docker load an image: trireme with the version as tag. A tag knows neither the
// ~ nor the + of versions between releases.
func imageNames(version string) map[string]string {
	name := "trireme:" + notInTags.ReplaceAllString(version, "-")
	return map[string]string{"org.opencontainers.image.ref.name": name, "io.containerd.image.name": "docker.io/library/" + name}
}

func digest(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }
