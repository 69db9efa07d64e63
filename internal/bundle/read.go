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

// Limits of what is read, so that a small file cannot fill the memory. A longer log is cut; any other file
// is refused as truncated.
const (
	maxRead    = 1 << 30 // of all files
	maxFile    = 512 << 20
	maxSmall   = 8 << 20   // of the Job, and the Manifest
	maxLog     = 256 << 10 // of each log
	maxObjects = 100_000   // in a list
)

// notWhole is what is wrong with a file that cannot be read to its end.
const notWhole = "it is not a bundle, or it is truncated or damaged: %w"

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
		return nil, fmt.Errorf(notWhole, err)
	case c.Manifest.Kind != Kind || c.Job == nil:
		return nil, errNoBundle
	}
	return c, nil
}

// Recording returns the recording in a bundle.
func Recording(r io.Reader) (recording []byte, err error) {
	err = eachFile(r, func(name string, data io.Reader) (err error) {
		if name == recordingFile {
			recording, err = io.ReadAll(io.LimitReader(data, maxFile))
		}
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf(notWhole, err)
	case recording == nil:
		return nil, errNoBundle
	}
	return recording, nil
}

// eachFile reads the files of a bundle, with their names below its folder.
func eachFile(r io.Reader, each func(name string, data io.Reader) error) error {
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	for archive := tar.NewReader(io.LimitReader(zipped, maxRead)); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(path.Clean(header.Name), "/")
		if err := each(name, archive); err != nil {
			return err
		}
	}
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
	case manifestFile:
		err = json.NewDecoder(io.LimitReader(r, maxSmall)).Decode(&c.Manifest)
	case jobFile:
		var data []byte
		if data, err = io.ReadAll(io.LimitReader(r, maxSmall)); err == nil {
			c.Job = &unstructured.Unstructured{}
			err = c.Job.UnmarshalJSON(data)
		}
	default:
		return c.readLog(name, r)
	}
	return err
}

// readList reads an array, or null.
func readList[T any](r io.Reader) (all []T, err error) {
	decoder := json.NewDecoder(io.LimitReader(r, maxFile))
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
	data, err := io.ReadAll(io.LimitReader(r, maxLog))
	log.Lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	c.Logs = append(c.Logs, log)
	return err
}
