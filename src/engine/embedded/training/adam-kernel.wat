;; What adam.ts computes over `count` numbers (a multiple of 4, at least 4), four at a time.
;; All addresses are in bytes and multiples of 16.
(module
  (import "host" "memory" (memory 1))

  ;; Adds `values` to `sum`.
  (func (export "add")
    (param $sum i32) (param $values i32) (param $count i32)
    (local $end i32)
    (local.set $end (i32.add (local.get $values) (i32.shl (local.get $count) (i32.const 2))))
    (loop $next
      (v128.store (local.get $sum)
        (f32x4.add (v128.load (local.get $sum)) (v128.load (local.get $values))))
      (local.set $sum (i32.add (local.get $sum) (i32.const 16)))
      (local.set $values (i32.add (local.get $values) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $values) (local.get $end)))))

  ;; Adds the squares of `values`, in 64 bits, to four sums: that at index i to the sum i mod 4.
  (func (export "addSquares")
    (param $sums i32) (param $values i32) (param $count i32)
    (local $end i32) (local $x v128) (local $low v128) (local $high v128)
    (local $first v128) (local $second v128)
    (local.set $first (v128.load (local.get $sums)))
    (local.set $second (v128.load offset=16 (local.get $sums)))
    (local.set $end (i32.add (local.get $values) (i32.shl (local.get $count) (i32.const 2))))
    (loop $next
      (local.set $x (v128.load (local.get $values)))
      (local.set $low (f64x2.promote_low_f32x4 (local.get $x)))
      (local.set $high (f64x2.promote_low_f32x4
        (i8x16.shuffle 8 9 10 11 12 13 14 15 8 9 10 11 12 13 14 15 (local.get $x) (local.get $x))))
      (local.set $first (f64x2.add (local.get $first) (f64x2.mul (local.get $low) (local.get $low))))
      (local.set $second (f64x2.add (local.get $second) (f64x2.mul (local.get $high) (local.get $high))))
      (local.set $values (i32.add (local.get $values) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $values) (local.get $end))))
    (v128.store (local.get $sums) (local.get $first))
    (v128.store offset=16 (local.get $sums) (local.get $second)))

  ;; AdamW in place: see adam.ts for the formula.
  (func (export "step")
    (param $first i32) (param $second i32) (param $gradient i32) (param $weight i32) (param $count i32)
    (param $beta1 f32) (param $beta2 f32) (param $scale f32) (param $keep f32)
    (param $stepSize f32) (param $secondCorrection f32) (param $epsilon f32)
    (local $end i32) (local $g v128) (local $m v128) (local $v v128)
    (local $b1 v128) (local $b2 v128) (local $rest1 v128) (local $rest2 v128)
    (local $s v128) (local $k v128) (local $a v128) (local $c v128) (local $e v128)
    (local.set $b1 (f32x4.splat (local.get $beta1)))
    (local.set $b2 (f32x4.splat (local.get $beta2)))
    (local.set $rest1 (f32x4.splat (f32.sub (f32.const 1) (local.get $beta1))))
    (local.set $rest2 (f32x4.splat (f32.sub (f32.const 1) (local.get $beta2))))
    (local.set $s (f32x4.splat (local.get $scale)))
    (local.set $k (f32x4.splat (local.get $keep)))
    (local.set $a (f32x4.splat (local.get $stepSize)))
    (local.set $c (f32x4.splat (local.get $secondCorrection)))
    (local.set $e (f32x4.splat (local.get $epsilon)))
    (local.set $end (i32.add (local.get $gradient) (i32.shl (local.get $count) (i32.const 2))))
    (loop $next
      (local.set $g (f32x4.mul (v128.load (local.get $gradient)) (local.get $s)))
      (local.set $m (f32x4.add
        (f32x4.mul (local.get $b1) (v128.load (local.get $first)))
        (f32x4.mul (local.get $rest1) (local.get $g))))
      (local.set $v (f32x4.add
        (f32x4.mul (local.get $b2) (v128.load (local.get $second)))
        (f32x4.mul (f32x4.mul (local.get $rest2) (local.get $g)) (local.get $g))))
      (v128.store (local.get $first) (local.get $m))
      (v128.store (local.get $second) (local.get $v))
      (v128.store (local.get $weight) (f32x4.sub
        (f32x4.mul (v128.load (local.get $weight)) (local.get $k))
        (f32x4.div
          (f32x4.mul (local.get $a) (local.get $m))
          (f32x4.add (f32x4.sqrt (f32x4.mul (local.get $v) (local.get $c))) (local.get $e)))))
      (local.set $first (i32.add (local.get $first) (i32.const 16)))
      (local.set $second (i32.add (local.get $second) (i32.const 16)))
      (local.set $weight (i32.add (local.get $weight) (i32.const 16)))
      (local.set $gradient (i32.add (local.get $gradient) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $gradient) (local.get $end))))))
