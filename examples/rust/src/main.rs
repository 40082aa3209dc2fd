//! Recognizes the twelve digits of examples/digits.
mod digits {
    relax_rt::include_model!("digits");
}

const SAMPLES: usize = 12;

/// The numbers of an array of samples.h.
fn numbers(name: &str) -> Vec<usize> {
    let text = include_str!("../../digits/samples.h").split_once(&format!("sample_{name}[")).unwrap().1;
    let body = text.split_once('=').unwrap().1.split_once(';').unwrap().0;
    body.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let image: Vec<f32> = numbers("pixels").iter().map(|&pixel| pixel as f32).collect();
    let truth = numbers("truth");
    let mut logits = [0.0; 10 * SAMPLES];
    let mut arena = vec![0; digits::ARENA_BYTES];

    let dims = digits::Dims { n: SAMPLES as i64 };
    let inputs = digits::Inputs { image: &image };
    let shapes = digits::run(&mut arena, &dims, &inputs, &mut digits::Outputs { logits: &mut logits })
        .map_err(|error| error.to_string())?;
    assert_eq!(shapes.logits, [12, 10]);

    let best = |scores: &[f32]| (0..10).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
    let right = logits.chunks(10).zip(&truth).filter(|(scores, &digit)| best(scores) == digit).count();
    println!("{right} of {SAMPLES} right");
    Ok(())
}
