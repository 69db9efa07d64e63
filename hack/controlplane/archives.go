//go:build unix

package main

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// The index that setup-envtest reads: each archive, with its SHA-512.
	archiveIndex = "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml"
	// Without a response by then, the machine counts as offline.
	indexTimeout = 5 * time.Second
	maxIndex     = 10 << 20
	maxBinary    = 1 << 30
)

// archives provides etcd and kube-apiserver as built by the Kubernetes projects for envtest.
type archives struct {
	index    string // its URL
	download bool
	client   *http.Client
	out      io.Writer
}

func newArchives(out io.Writer) *archives {
	return &archives{index: archiveIndex, download: os.Getenv("CONTROLPLANE_DOWNLOAD") != "off", client: http.DefaultClient, out: out}
}

// archive is an entry of the index.
type archive struct {
	patch       int // of its version
	sha512, url string
}

var errNoDownload = errors.New("CONTROLPLANE_DOWNLOAD is off")

// fetch downloads etcd and kube-apiserver into dir. It leaves them there only if their checksum matches the index.
func (a *archives) fetch(ctx context.Context, dir string) error {
	if !a.download {
		return errNoDownload
	}
	found, err := a.find(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "Downloading %s, and verifying its SHA-512 (CONTROLPLANE_DOWNLOAD=off builds it instead)\n", found.url)
	p := startProgress(a.out, "Downloading")
	path := filepath.Join(dir, "archive")
	err = a.save(ctx, found, path, p)
	p.stop(err)
	if err != nil {
		return err
	}
	return unpack(path, dir, "etcd", "kube-apiserver")
}

// find returns the newest archive of this minor release.
func (a *archives) find(ctx context.Context) (archive, error) {
	ctx, cancel := context.WithTimeout(ctx, indexTimeout)
	defer cancel()
	response, err := a.get(ctx, a.index)
	if err != nil {
		return archive{}, fmt.Errorf("no prebuilt kube-apiserver can be downloaded (%w)", err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxIndex))
	if err != nil {
		return archive{}, fmt.Errorf("no prebuilt kube-apiserver can be downloaded (%w)", err)
	}
	list := parseIndex(string(data))
	if len(list) == 0 {
		return archive{}, fmt.Errorf("no prebuilt kube-apiserver %s for %s/%s is listed", minor(kubeVersion), runtime.GOOS, runtime.GOARCH)
	}
	return list[len(list)-1], nil
}

// parseIndex returns the archives of this minor release and machine, newest last. The index is YAML in a fixed form: a
// line with the name, followed by its hash and selfLink.
func parseIndex(text string) []archive {
	name := regexp.QuoteMeta("envtest-"+minor(kubeVersion)) + `\.(\d+)-` + runtime.GOOS + "-" + runtime.GOARCH + `\.tar\.gz`
	entry := regexp.MustCompile(`(?m)^\s+` + name + `:\s*\n\s+hash: ([0-9a-f]{128})\s*\n\s+selfLink: (https?://\S+)\s*$`)
	var list []archive
	for _, match := range entry.FindAllStringSubmatch(text, -1) {
		patch, err := strconv.Atoi(match[1])
		if err == nil {
			list = append(list, archive{patch, match[2], match[3]})
		}
	}
	slices.SortFunc(list, func(a, b archive) int { return a.patch - b.patch })
	return list
}

func (a *archives) get(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := a.client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return response, nil
}

// save downloads an archive, and returns an error if its checksum is wrong.
func (a *archives) save(ctx context.Context, found archive, path string, p *progress) error {
	response, err := a.get(ctx, found.url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer file.Close()
	sum := sha512.New()
	counted := &counter{from: response.Body, all: response.ContentLength, progress: p}
	if _, err := io.Copy(io.MultiWriter(file, sum), io.LimitReader(counted, maxBinary)); err != nil {
		return fmt.Errorf("downloading %s: %w", found.url, err)
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != found.sha512 {
		return fmt.Errorf("%s has the SHA-512 %s, not %s as listed", found.url, got, found.sha512)
	}
	return file.Close()
}

// counter updates a progress as it is read.
type counter struct {
	from      io.Reader
	done, all int64
	progress  *progress
}

func (c *counter) Read(data []byte) (int, error) {
	n, err := c.from.Read(data)
	c.done += int64(n)
	c.progress.at(c.done, c.all)
	return n, err
}

// unpack writes only the named files of an archive into dir.
func unpack(path, dir string, names ...string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return fmt.Errorf("unpacking %s: %w", path, err)
	}
	for files := tar.NewReader(unzipped); ; {
		header, err := files.Next()
		switch {
		case errors.Is(err, io.EOF) && has(dir, names...):
			return nil
		case errors.Is(err, io.EOF):
			return fmt.Errorf("%s does not have all of %s", path, strings.Join(names, ", "))
		case err != nil:
			return fmt.Errorf("unpacking %s: %w", path, err)
		}
		name := filepath.Base(header.Name)
		if header.Typeflag != tar.TypeReg || !slices.Contains(names, name) {
			continue
		}
		if err := writeProgram(filepath.Join(dir, name), io.LimitReader(files, maxBinary)); err != nil {
			return err
		}
	}
}

func writeProgram(path string, from io.Reader) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, from); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
