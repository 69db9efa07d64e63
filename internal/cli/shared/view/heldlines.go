package view

import (
	"io"
	"sync"
)

// HeldLines buffers the output of libraries while the view has the terminal, until Release prints it.
type HeldLines struct {
	mu   sync.Mutex
	text []byte
	out  io.Writer // nil until Release
}

// maxHeld is the maximum number of buffered bytes.
const maxHeld = 16 << 10

func (h *HeldLines) Write(data []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.out != nil {
		return h.out.Write(data)
	}
	h.text = append(h.text, data[:min(len(data), maxHeld-len(h.text))]...)
	return len(data), nil
}

// Release prints the buffered output to out, and later output directly.
func (h *HeldLines) Release(out io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.out = out
	_, _ = out.Write(h.text) // Other code reports a terminal that is gone.
	h.text = nil
}
