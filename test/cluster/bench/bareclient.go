//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
)

// floorCommand is the first argument of the floor process; the second is the path of its kubeconfig.
const floorCommand = "floor-process"

// floorAnswer holds the Job as created in the API server and its duration. Error is empty on success.
type floorAnswer struct {
	Job   *batchv1.Job
	Took  time.Duration
	Error string
}

// bareClient is the floor process. It is a separate process, as the controllers are, so that its CPU can be measured.
type bareClient struct {
	process *child
	orders  *json.Encoder
	answers *json.Decoder
}

// startBareClient starts this program as the floor process, with the same environment as our controller.
func startBareClient(root, kubeconfig string, fail func(error)) (*bareClient, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	deployed, err := deployedEnv(root)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, floorCommand, kubeconfig)
	cmd.Env, cmd.Stderr = slices.Concat(deployed, os.Environ()), os.Stderr
	orders, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	// The pipe of cmd.StdoutPipe would be closed when the process ends, even if its last answer has not been read.
	answers, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	cmd.Stdout = stdout
	process, err := startChild("the bare client", cmd, func(c *child) { fail(fmt.Errorf("%s ended (%w)", c.name, c.err)) })
	return &bareClient{process, json.NewEncoder(orders), json.NewDecoder(answers)}, err
}

func (c *bareClient) stop() error {
	if c == nil {
		return nil
	}
	return c.process.stop()
}

// run runs a Job in the floor process. Once ctx is done, the client cannot be used again.
func (c *bareClient) run(ctx context.Context, job *batchv1.Job) (*batchv1.Job, time.Duration, error) {
	if err := c.orders.Encode(job); err != nil {
		return nil, 0, fmt.Errorf("asking the bare client: %w", err)
	}
	var answer floorAnswer
	read := make(chan error, 1)
	go func() { read <- c.answers.Decode(&answer) }()
	select {
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	case err := <-read:
		switch {
		case err != nil:
			return nil, 0, fmt.Errorf("the answer of the bare client: %w", err)
		case answer.Error != "":
			return nil, 0, fmt.Errorf("the bare client: %s", answer.Error)
		}
	}
	return answer.Job, answer.Took, nil
}

// serveFloor is the main function of the floor process. Unlike the parent's, it does not catch signals.
func serveFloor(kubeconfig string) (exitCode int) {
	a, err := newAPI(kubeconfig)
	if err == nil {
		err = answerOrders(context.Background(), a, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the bare client:", err)
		return 1
	}
	return 0
}

// answerOrders runs the ordered Jobs one after the other until orders ends.
func answerOrders(ctx context.Context, a api, orders io.Reader, answers io.Writer) error {
	in, out := json.NewDecoder(orders), json.NewEncoder(answers)
	for {
		ordered := &batchv1.Job{}
		if err := in.Decode(ordered); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var answer floorAnswer
		job, took, err := a.floor(ctx, ordered)
		if err != nil {
			answer.Error = err.Error()
		} else {
			answer.Job, answer.Took = job, took
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
}
