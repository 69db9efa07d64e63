package view

import (
	"io"
	"sync"
)

// HeldLines keeps what libraries write while the view has the terminal, and prints it when
// it is gone.
type HeldLines struct {
	mu   sync.Mutex
	text []byte
	out  io.Writer // once the view is gone
}

// maxHeld is how much is kept.
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

// Release prints what was held, and passes on to out what is written later.
func (h *HeldLines) Release(out io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.out = out
	_, _ = out.Write(h.text) // A terminal that is gone is noticed elsewhere.
	h.text = nil
}
