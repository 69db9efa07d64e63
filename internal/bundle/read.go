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

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxRead is how much a bundle may hold, so that a small file cannot fill the memory.
const maxRead = 1 << 30

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
	err := eachFile(r, func(name string, data []byte) error {
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
func Recording(r io.Reader) ([]byte, error) {
	var recording []byte
	err := eachFile(r, func(name string, data []byte) error {
		if name == recordingFile {
			recording = bytes.Clone(data)
		}
		return nil
	})
	if err == nil && recording == nil {
		err = errNoBundle
	}
	return recording, err
}

// eachFile reads the files of a bundle, with their names below its folder.
func eachFile(r io.Reader, each func(name string, data []byte) error) error {
	zipped, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	left := int64(maxRead)
	for archive := tar.NewReader(zipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, name, _ := strings.Cut(path.Clean(header.Name), "/")
		data, err := io.ReadAll(io.LimitReader(archive, left+1))
		if err != nil {
			return err
		}
		if left -= int64(len(data)); left < 0 {
			return fmt.Errorf("it holds more than %d MiB", maxRead>>20)
		}
		if err := each(name, data); err != nil {
			return err
		}
	}
}

// read takes in one file. Those that follow from others are not read.
func (c *Contents) read(name string, data []byte) error {
	switch name {
	case manifestFile:
		return json.Unmarshal(data, &c.Manifest)
	case jobFile:
		c.Job = &unstructured.Unstructured{}
		return c.Job.UnmarshalJSON(data)
	case podsFile:
		return json.Unmarshal(data, &c.Pods)
	case eventsFile:
		return json.Unmarshal(data, &c.Events)
	case nodesFile:
		return json.Unmarshal(data, &c.Nodes)
	case relativesFile:
		return json.Unmarshal(data, &c.Relatives)
	}
	c.readLog(name, data)
	return nil
}

func (c *Contents) readLog(name string, data []byte) {
	folder, base := path.Split(name)
	parent, pod := path.Split(path.Clean(folder))
	if path.Clean(parent) != logsFolder {
		return
	}
	log := Log{Pod: pod}
	switch {
	case strings.HasSuffix(base, previousLog):
		log.Container, log.Previous = strings.TrimSuffix(base, previousLog), true
	case strings.HasSuffix(base, lastLog):
		log.Container = strings.TrimSuffix(base, lastLog)
	default:
		return
	}
	log.Lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	c.Logs = append(c.Logs, log)
}
