package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	controllerpkg "github.com/batchjob-dev/kubectl-batchjob/pkg/controller"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/field/play"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/field/situation"
	"github.com/batchjob-dev/kubectl-batchjob/test/world/recorded"
)

// take is a case with one of the controllers.
type take struct {
	situation.Case
	play play.Play
	ours bool
}

func takesOf(cases []situation.Case) (takes []take, err error) {
	for _, c := range cases {
		p, err := play.Read(c.Dir)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Dir, err)
		}
		for _, controller := range p.Controllers {
			takes = append(takes, take{Case: c, play: p, ours: controller == play.Ours})
		}
	}
	return takes, nil
}

func (t take) namespace() string {
	if t.ours {
		return t.Name + "-ours"
	}
	return t.Name
}

// result is the result of a take.
type result struct {
	take
	verdicts []situation.Verdict
	// err is the reason why the take could not be played.
	err error
}

func (r result) passes() bool {
	for _, v := range r.verdicts {
		if len(v.Faults) > 0 {
			return false
		}
	}
	return r.err == nil
}

// owed reports whether the take was played, and its case is known to lack facts.
func (r result) owed() bool { return r.err == nil && r.Owed }

// asking is the number of plugin commands that run at the same time.
const asking = 4

// playAll plays all takes at the same time.
func (c *cluster) playAll(ctx context.Context, takes []take, out, record string) []result {
	results := make([]result, len(takes))
	slots := make(chan struct{}, asking)
	var all sync.WaitGroup
	for i, t := range takes {
		all.Go(func() {
			results[i] = result{take: t}
			results[i].verdicts, results[i].err = c.playOne(ctx, t, out, record, slots)
		})
	}
	all.Wait()
	return results
}

func (c *cluster) playOne(ctx context.Context, t take, out, record string, slots chan struct{}) ([]situation.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	p := play.Player{Client: c.client, Objects: c.objects, Hooks: c.hooks, Kubelet: c.kubelet, Node: worker, Namespace: t.namespace(), Dir: t.Dir}
	if t.ours {
		p.ManagedBy = controllerpkg.DefaultManagedBy
	}
	// Playing modifies the steps when it expands them, so each take reads its own.
	steps, err := play.Read(t.Dir)
	if err != nil {
		return nil, err
	}
	if err := p.Play(ctx, steps); err != nil {
		return nil, err
	}
	var verdicts []situation.Verdict
	var output strings.Builder
	for _, ask := range t.Asks {
		slots <- struct{}{}
		answer, err := c.ask(ctx, t, ask, &output)
		<-slots
		if err != nil {
			return nil, err
		}
		verdicts = append(verdicts, ask.Judge(answer))
	}
	if record != "" {
		if err := c.record(ctx, t, record); err != nil {
			return nil, err
		}
	}
	return verdicts, os.WriteFile(t.file(out)+".txt", []byte(output.String()), 0o644)
}

// file returns the path of a take's results, without an extension.
func (t take) file(out string) string { return filepath.Join(out, t.namespace()) }

// record writes the state of the namespace, and the logs of its containers, in the format of package replay.
func (c *cluster) record(ctx context.Context, t take, folder string) error {
	objects, err := c.objects.List(ctx, t.namespace())
	if err != nil {
		return err
	}
	for _, log := range c.kubelet.Logs(t.namespace()) {
		objects = append(objects, log.Object())
	}
	_, err = recorded.Write(t.file(folder)+".yaml", t.Situation, time.Now(), objects)
	return err
}

// ask runs the plugin, appends its output to said, and returns the answer.
func (c *cluster) ask(ctx context.Context, t take, ask situation.Ask, output *strings.Builder) (a situation.Answer, err error) {
	args := strings.Fields(ask.Run)
	if ask.About != "" {
		args = []string{"why", ask.About}
	}
	if ask.About != "" {
		if a.Short, err = c.plugin(ctx, t, args...); err != nil {
			return a, err
		}
		fmt.Fprintf(output, "$ kubectl batchjob %s\n%s\n", strings.Join(args, " "), a.Short)
		args = append(args, "--full")
	}
	if a.Text, err = c.plugin(ctx, t, args...); err != nil {
		return a, err
	}
	fmt.Fprintf(output, "$ kubectl batchjob %s\n%s\n", strings.Join(args, " "), a.Text)
	if ask.About != "" && !strings.Contains(ask.About, "/") {
		if a.JSON, err = c.plugin(ctx, t, "why", ask.About, "-o", "json"); err != nil {
			return a, err
		}
		fmt.Fprintln(output, a.JSON)
	}
	return anonymous(a, t.namespace()), nil
}

// anonymous returns the answer without the namespace's name, which is the name of the case and could match a fact.
func anonymous(a situation.Answer, namespace string) situation.Answer {
	without := func(text string) string { return strings.ReplaceAll(text, namespace, "namespace") }
	return situation.Answer{Text: without(a.Text), Short: without(a.Short), JSON: without(a.JSON)}
}

// plugin returns the output of a plugin command. It ignores the exit code, as wait and lint use their own.
func (c *cluster) plugin(ctx context.Context, t take, args ...string) (string, error) {
	args = append(args, "--kubeconfig", c.Kubeconfig, "-n", t.namespace())
	if args[0] == "lint" || args[0] == "simulate" {
		args = args[:len(args)-4]
	}
	cmd := exec.CommandContext(ctx, c.binary, args...)
	cmd.Dir = t.Dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		return "", err
	}
	return out.String(), ctx.Err()
}
