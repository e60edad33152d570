#!/bin/sh
# The pictures of the README, made anew from the real program: docs/pictures/*.svg
set -eu
UPDATE=1 ${GO:-go} test -count=1 -run 'TestThePictures' ./cmd/ikigai
