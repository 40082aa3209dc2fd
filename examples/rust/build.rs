fn main() {
    relaxc_build::Model::new("../digits/digits.onnx").dim("n=1..12").compile();
}
