package bundle

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Limits of what is read, so that a small file cannot fill the memory.
const (
	maxRead    = 1 << 30 // of all files
	maxFile    = 512 << 20
	maxSmall   = 8 << 20   // of the Job, and the Manifest
	maxLog     = 256 << 10 // of each log
	maxObjects = 100_000   // in a list
)

// errNoBundle is the error for another archive.
var errNoBundle = errors.New("it is not a bundle: it has no " + manifestFile)

// Is reports whether a file begins like a bundle; nothing is consumed.
func Is(file *bufio.Reader) bool {
	magic, _ := file.Peek(2)
	return bytes.Equal(magic, []byte{0x1f, 0x8b})
}

// Open reads the bundle in a file.
func Open(name string) (*Contents, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // It was only read.
	return Read(bufio.NewReader(file))
}

// Read reads a bundle.
func Read(r io.Reader) (*Contents, error) {
	c := &Contents{}
	err := eachFile(r, func(name string, data io.Reader) error {
		if err := c.read(name, data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case c.Manifest.Kind != Kind || c.Job == nil:
		return nil, errNoBundle
	}
	return c, nil
}

// Recording returns the recording in a bundle.
func Recording(r io.Reader) (recording []byte, err error) {
	err = eachFile(r, func(name string, data io.Reader) (err error) {
		if name == recordingFile {
			recording, err = io.ReadAll(atMost(data, maxFile))
		}
		return err
	})
	if err == nil && recording == nil {
		err = errNoBundle
	}
	return recording, err
}

// eachFile reads the files of a bundle, with their names below its folder.
func eachFile(r io.Reader, each func(name string, data io.Reader) error) error {
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return damaged(err)
	}
	for archive := tar.NewReader(atMost(zipped, maxRead)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return damaged(err)
		}
		_, name, _ := strings.Cut(path.Clean(header.Name), "/")
		if err := each(name, archive); err != nil {
			return damaged(err)
		}
	}
}

// damaged says what is wrong with a file.
func damaged(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it is not a bundle, or it is truncated: %w", err)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, tar.ErrHeader):
		return fmt.Errorf("it is not a bundle, or it is damaged: %w", err)
	}
	return err
}

// limited is a Reader that fails after so many bytes.
type limited struct {
	from io.Reader
	left int64
	most int64
}

func atMost(r io.Reader, most int64) io.Reader { return &limited{r, most, most} }

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, fmt.Errorf("it holds more than %d KiB", l.most>>10)
	}
	n, err := l.from.Read(p[:min(int64(len(p)), l.left+1)])
	l.left -= int64(n)
	return n, err
}

// read takes in one file. Those that follow from others are not read.
func (c *Contents) read(name string, r io.Reader) (err error) {
	switch name {
	case podsFile:
		c.Pods, err = readList[corev1.Pod](r)
	case eventsFile:
		c.Events, err = readList[corev1.Event](r)
	case nodesFile:
		c.Nodes, err = readList[corev1.Node](r)
	case relativesFile:
		c.Relatives, err = readList[Relative](r)
	case manifestFile, jobFile:
		var data []byte
		if data, err = io.ReadAll(atMost(r, maxSmall)); err == nil && name == jobFile {
			c.Job = &unstructured.Unstructured{}
			return c.Job.UnmarshalJSON(data)
		} else if err == nil {
			return json.Unmarshal(data, &c.Manifest)
		}
	default:
		return c.readLog(name, r)
	}
	return err
}

// readList reads an array, or null.
func readList[T any](r io.Reader) (all []T, err error) {
	decoder := json.NewDecoder(atMost(r, maxFile))
	begin, err := decoder.Token()
	if err != nil || begin == nil {
		return nil, err
	}
	for decoder.More() {
		if len(all) == maxObjects {
			return nil, fmt.Errorf("it holds more than %d objects", maxObjects)
		}
		var one T
		if err := decoder.Decode(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	_, err = decoder.Token()
	return all, err
}

func (c *Contents) readLog(name string, r io.Reader) error {
	folder, base := path.Split(name)
	parent, pod := path.Split(path.Clean(folder))
	if path.Clean(parent) != logsFolder || len(c.Logs) == maxLogs {
		return nil
	}
	log := Log{Pod: pod}
	switch {
	case strings.HasSuffix(base, previousLog):
		log.Container, log.Previous = strings.TrimSuffix(base, previousLog), true
	case strings.HasSuffix(base, lastLog):
		log.Container = strings.TrimSuffix(base, lastLog)
	default:
		return nil
	}
	data, err := io.ReadAll(atMost(r, maxLog))
	log.Lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	c.Logs = append(c.Logs, log)
	return err
}
