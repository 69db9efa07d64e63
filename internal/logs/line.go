package logs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"
	"unicode/utf8"
)

const (
	chunkSize = 64 << 10
	// maxLine is the length at which a line is split, to bound the memory whatever a container writes. It is a multiple of
	// chunkSize.
	maxLine = 1 << 20
)

// Line is a line of a log, or a part of a long one. Text is valid until the next read.
type Line struct {
	Text      []byte // without its newline
	Timestamp string // as the server wrote it; "" without timestamps
	Time      time.Time
	First     bool // the first part of its line
	Last      bool

	incomplete bool // the rest did not arrive: the log ended without a newline
}

// lineReader reads the lines of a log.
type lineReader struct {
	in         *bufio.Reader
	timestamps bool // each line starts with a timestamp

	buffer []byte
	held   []byte // the start of a rune that a split would cut in two
	next   Line
}

func newLineReader(in io.Reader, timestamps bool) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(in, chunkSize), timestamps: timestamps, next: Line{First: true}}
}

// read returns the next line, or an error. If the log ends without a newline, the last line is marked as broken and returned
// without an error; the next call returns the error, io.EOF at the end of the log.
func (r *lineReader) read() (Line, error) {
	line := r.next
	text, err := r.fill()
	switch {
	case err == nil:
		line.Last = true
	case errors.Is(err, bufio.ErrBufferFull):
		whole := wholeRunes(text)
		r.held = append(r.held[:0], text[whole:]...)
		text = text[:whole]
	case len(text) == 0 && line.First:
		return Line{}, err
	default:
		line.Last, line.incomplete = true, true
	}
	if line.First && r.timestamps {
		line.Timestamp, line.Time, text = cutTimestamp(text)
	}
	line.Text = text
	r.next = Line{First: line.Last, Timestamp: line.Timestamp, Time: line.Time}
	return line, nil
}

// fill reads up to a newline, up to the maximum length of a line (bufio.ErrBufferFull), or up to another error.
func (r *lineReader) fill() ([]byte, error) {
	r.buffer = append(r.buffer[:0], r.held...)
	r.held = r.held[:0]
	for read := 0; read < maxLine; {
		chunk, err := r.in.ReadSlice('\n')
		r.buffer = append(r.buffer, chunk...)
		read += len(chunk)
		if err == nil {
			text := r.buffer[:len(r.buffer)-1]
			return bytes.TrimSuffix(text, []byte{'\r'}), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.buffer, err
		}
	}
	return r.buffer, bufio.ErrBufferFull
}

// wholeRunes returns the length of text without a rune that is cut off at its end.
func wholeRunes(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if i := len(text) - n; utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return i
			}
			break
		}
	}
	return len(text)
}

// cutTimestamp splits off the timestamp of a line. A line without one stays as it is; an example is an error that the kubelet
// reports in place of a log.
func cutTimestamp(text []byte) (string, time.Time, []byte) {
	at, rest, _ := bytes.Cut(text, []byte{' '})
	if len(at) > len("2006-01-02T15:04:05.000000000+00:00") {
		return "", time.Time{}, text
	}
	t, err := time.Parse(time.RFC3339Nano, string(at))
	if err != nil {
		return "", time.Time{}, text
	}
	return string(at), t, rest
}
